// Packs every published package as npm would, and holds the packs against publint and are-the-types-wrong.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const packs = mkdtempSync(join(tmpdir(), 'sluice-packs-'))
const run = (program, ...args) =>
  execFileSync('npx', ['--no-install', program, ...args], { stdio: 'inherit' })
try {
  for (const name of readdirSync('packages')) {
    const folder = join('packages', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (manifest.private) continue
    const [pack] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', packs, `./${folder}`], {
        encoding: 'utf8',
      }),
    )
    const file = join(packs, pack.filename)
    console.log(`${pack.name}: ${pack.entryCount} files, ${Math.round(pack.size / 1024)} KiB packed`)
    run('publint', 'run', file, '--strict', '--pack', 'false')
    const kinds = manifest.main ? [] : ['--profile', 'esm-only']
    run('attw', file, '--format', 'table-flipped', ...kinds)
  }
} finally {
  rmSync(packs, { recursive: true, force: true })
}
