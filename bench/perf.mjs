// One subject beside the rivals and the limit: `npm run perf SUBJECT…`, or all of them without a name. Prints a table for
// each scenario, and writes results/SUBJECT.json. Every figure is CPU time of whole processes, from fresh ones, interleaved.
// A run of all subjects writes the tables of docs/performance.md, too; `npm run perf:page` writes what single runs found.
// --rounds=5; --scenario=TEXT prints the scenarios with this text in their names, and writes nothing.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { writePage } from './perf-page.mjs'
import { quantile } from './rounds.mjs'

const SUBJECTS = [
  'in-process',
  'scale',
  'growth',
  'redis',
  'http',
  'grpc',
  'middleware',
  'matcher',
  'rules',
  'simulate',
  'start-up',
]
/** Libraries of the page, as they are installed; package.json has more, for other programs of this folder. */
const RIVALS = [
  'rate-limiter-flexible',
  'express-rate-limit',
  '@fastify/rate-limit',
  'hono-rate-limiter',
  'rate-limit-redis',
  'ioredis',
  'redis',
  'express',
  'fastify',
  'hono',
]
const DEADLINE_MS = 120_000

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    scenario: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const rounds = Number(options.rounds)
const unknown = names.filter((name) => !SUBJECTS.includes(name))
if (options.help || unknown.length > 0 || !(Number.isInteger(rounds) && rounds > 0)) {
  console.error(`npm run perf -- [--rounds=5] [--scenario=TEXT] [SUBJECT…]\nSubjects: ${SUBJECTS.join(', ')}`)
  process.exit(options.help ? 0 : 2)
}

for (const name of names.length > 0 ? names : SUBJECTS) {
  const subject = await import(`./subjects/${name}.mjs`)
  const end = await subject.start?.()
  const tables = []
  for (const [scenario, { unit, candidates }] of Object.entries(subject.scenarios)) {
    if (!scenario.includes(options.scenario ?? '')) continue
    const rows = await measured(name, scenario, candidates)
    tables.push({ scenario, unit, rows })
    print(`${name}: ${scenario}`, unit, rows)
  }
  await end?.()
  if (options.scenario !== undefined) continue
  mkdirSync(new URL('results/', import.meta.url), { recursive: true })
  const text = JSON.stringify(
    { subject: name, when: new Date().toISOString(), rounds, ...conditions(), tables },
    null,
    2,
  )
  writeFileSync(new URL(`results/${name}.json`, import.meta.url), `${text}\n`)
}
if (names.length === 0 && options.scenario === undefined) await writePage()
process.exit()

/** Medians of every candidate's figures. A candidate that fails has none, and says why. */
async function measured(name, scenario, candidates) {
  const all = new Map(candidates.map((candidate) => [candidate, []]))
  for (let round = 0; round < rounds; round++) {
    for (const candidate of candidates) {
      const line = ['--expose-gc', new URL('one.mjs', import.meta.url).pathname, name, scenario, candidate]
      const { stdout, stderr } = spawnSync(process.execPath, line, { encoding: 'utf8', timeout: DEADLINE_MS })
      const last = stdout.trim().split('\n').at(-1)
      if (last.startsWith('{')) all.get(candidate).push(JSON.parse(last))
      else console.error(`${candidate}: ${stderr.slice(0, 500)}`)
    }
  }
  return [...all].flatMap(([candidate, runs]) => {
    if (runs.length === 0) return []
    const of = (field, share) =>
      quantile(
        runs.map((run) => run[field]),
        share,
      )
    const figures = Object.fromEntries(
      Object.keys(runs[0]).map((field) => [
        field,
        { median: of(field, 0.5), least: of(field, 0), most: of(field, 0.999) },
      ]),
    )
    return [{ candidate, figures }]
  })
}

/** The first figure is the one that is compared: with the first candidate's. */
function print(title, unit, rows) {
  console.log(`\n${title}, ${unit} (Node ${process.versions.node}, ${rounds} rounds)`)
  const first = (row) => Object.values(row.figures)[0].median
  for (const row of rows) {
    const [main, ...others] = Object.entries(row.figures)
    const more = others.map(([field, { median }]) => `${field} ${short(median)}`).join('  ')
    const { median, least, most } = main[1]
    console.log(
      `  ${row.candidate.padEnd(36)} ${short(median).padStart(9)}  [${short(least)}–${short(most)}]  ${(first(row) / first(rows[0])).toFixed(2)}x  ${more}`,
    )
  }
}

function short(figure) {
  return figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3)
}

function conditions() {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
  const versions = Object.fromEntries(RIVALS.map((name) => [name, dependencies[name]]))
  const machine = {
    cpu: cpus()[0].model,
    cores: cpus().length,
    memory: totalmem(),
    system: release().split('-')[0],
    load: loadavg(),
  }
  return { node: process.versions.node, machine, versions }
}
