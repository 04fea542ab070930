// Holds what the packages export against the report of it that is kept, api/PACKAGE.md, so that no public name or
// member changes unseen; and every public function and class against having an @example. After a build.
//   node scripts/api.mjs [--write]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishedPackages } from './api/entries.mjs'
import { withoutExample } from './api/examples.mjs'
import { reportOf } from './api/report.mjs'

const KEPT = 'api'
const write = process.argv.includes('--write')

const packages = publishedPackages()
const folder = write ? KEPT : mkdtempSync(join(tmpdir(), 'sluice-api-'))
try {
  mkdirSync(KEPT, { recursive: true })
  if (write) for (const file of readdirSync(KEPT)) rmSync(join(KEPT, file))
  for (const published of packages) writeFileSync(join(folder, `${published.folder}.md`), reportOf(published))
  if (!write) {
    const { status } = spawnSync('git', ['--no-pager', 'diff', '--no-index', KEPT, folder], {
      stdio: 'inherit',
    })
    if (status !== 0) {
      console.error(
        `\nThe packages export what ${KEPT}/ does not say: if it is meant, run npm run api -- --write`,
      )
      process.exitCode = 1
    }
  }
} finally {
  if (!write) rmSync(folder, { recursive: true, force: true })
}

const bare = packages.flatMap(withoutExample)
if (bare.length > 0) {
  console.error(`Public, but without an @example:\n${bare.map((line) => `  ${line}`).join('\n')}`)
  process.exitCode = 1
}
