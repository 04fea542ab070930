// Runs all walks and hostile traffic, round after round with other seeds, for so many minutes: a longer look than CI
// takes. Prints each job with its seed, which repeats it; exits 1 when any failed.
// npm run build && nice -n 19 npm run walks -- [minutes, default 60] [first seed]
import { spawn } from 'node:child_process'

const [minutes = '60', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2)
const until = Date.now() + Number(minutes) * 60_000
if (!Number.isFinite(until) || !Number.isSafeInteger(Number(seed))) {
  console.error('usage: node scripts/walks.mjs [minutes] [seed]')
  process.exit(2)
}

const LIMITER = 'packages/limiter/src'
const SERVICE = 'packages/service/src'
const vitest = (env, ...files) => ({ env, command: ['npx', 'vitest', 'run', ...files] })

/** What one round runs: some minutes each on an idle machine, all together about a quarter of an hour. */
const JOBS = {
  'changed rules': vitest({ SLUICE_CHANGES: 1_000 }, `${LIMITER}/stores/changed-rule.services.test.ts`),
  'own clocks': vitest({ SLUICE_MOMENTS: 60 }, `${LIMITER}/stores/own-clocks.services.test.ts`),
  'giving back': vitest(
    { SLUICE_WALKS: 300 },
    `${LIMITER}/refunds.test.ts`,
    `${LIMITER}/refunds.services.test.ts`,
    `${LIMITER}/stores/prefetch/steps-back.test.ts`,
    `${SERVICE}/http/reserve.test.ts`,
  ),
  'Lua twins': vitest(
    { SLUICE_DIFFERENTIAL_STEPS: 100_000, SLUICE_RUNS: 2_000 },
    `${LIMITER}/stores/redis/twins.services.test.ts`,
    `${LIMITER}/stores/redis/straight.services.test.ts`,
  ),
  algorithms: vitest({ SLUICE_RUNS: 20_000 }, `${LIMITER}/core/decide`),
  memory: vitest(
    { SLUICE_RUNS: 15 },
    `${LIMITER}/stores/memory`,
    `${LIMITER}/stores/memory.differential.test.ts`,
  ),
  'a failing Redis': vitest(
    {},
    `${LIMITER}/stores/fallback.services.test.ts`,
    'packages/cli/src/commands/serve.services.test.ts',
  ),
  'hostile requests': vitest(
    { SLUICE_RULES: 10_000 },
    `${SERVICE}/hostile.services.test.ts`,
    `${SERVICE}/in-flight.services.test.ts`,
    `${SERVICE}/http/stall.test.ts`,
    `${SERVICE}/http/cost.test.ts`,
    `${LIMITER}/adapters/gate/cost.test.ts`,
    `${SERVICE}/rules/reload.services.test.ts`,
  ),
  'hostile traffic': { env: {}, command: ['node', 'scripts/walks/traffic.mjs', '120'] },
}

/** Figures that tests and traffic print. */
const FIGURES = / ms of \d| ms: |requests in|Tests {2}/

async function run({ env, command: [file, ...args] }, own) {
  const seeds = { SLUICE_SEED: own, SLUICE_DIFFERENTIAL_SEED: own }
  const given = Object.fromEntries(
    Object.entries({ ...seeds, ...env }).map(([name, value]) => [name, `${value}`]),
  )
  const child = spawn(file, args, { env: { ...process.env, ...given, NO_COLOR: '1' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, output, given }
}

const failed = []
let jobs = 0
for (let round = 0; Date.now() < until; round++) {
  for (const [name, job] of Object.entries(JOBS)) {
    if (Date.now() >= until) break
    const own = (Number(seed) + round) % 2 ** 31
    const began = Date.now()
    const { code, output, given } = await run(job, own)
    jobs++
    const seconds = Math.round((Date.now() - began) / 1_000)
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}, seed ${own}: ${seconds} s`)
    for (const line of output.split('\n')) if (FIGURES.test(line)) console.log(`         ${line.trim()}`)
    if (code === 0) continue
    const repeat = Object.entries(given).map(([variable, value]) => `${variable}=${value}`)
    failed.push(`${repeat.join(' ')} ${job.command.join(' ')}`)
    console.log(output)
  }
}
console.log(`${jobs} jobs, ${failed.length} failed`)
for (const line of failed) console.log(`repeat with: ${line}`)
process.exit(failed.length > 0 ? 1 : 0)
