// One subject beside the rivals and the limit: `npm run perf SUBJECT…`, or all of them without a name. Prints a table for
// each scenario, and writes results/SUBJECT.json. Every figure is CPU time of whole processes, from fresh ones, interleaved.
// A run of all subjects writes the tables of docs/performance.md, too; `npm run perf:page` writes what single runs found.
// --rounds=5; --scenario=TEXT prints the scenarios with this text in their names, and writes nothing.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  'limiter',
  '@fastify/rate-limit',
  'hono-rate-limiter',
  'rate-limit-redis',
  'ioredis',
  'redis',
  'express',
  'fastify',
  'hono',
]
const DEADLINE_MS = 300_000

const USAGE = `npm run perf -- [--rounds=5] [--scenario=TEXT] [SUBJECT…]\nSubjects: ${SUBJECTS.join(', ')}`
const { options, names, rounds } = lineOf()
const began = Date.now()
let failures = 0
let found = false

for (const name of names.length > 0 ? names : SUBJECTS) {
  const subject = await importOf(name)
  const scenarios = Object.entries(subject.scenarios).filter(([title]) =>
    title.includes(options.scenario ?? ''),
  )
  if (scenarios.length === 0) continue
  found = true
  let end
  try {
    end = await subject.start?.()
  } catch (error) {
    failed(name, error.message)
    continue
  }
  const tables = []
  for (const [scenario, { unit, candidates }] of scenarios) {
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
if (!found && failures === 0) console.error(`No scenario has "${options.scenario}" in its name.`)
console.error(`\n${clock()} done${failures > 0 ? `, but for ${failures} that could not be measured` : ''}`)
process.exit(found && failures === 0 ? 0 : 1)

function lineOf() {
  try {
    const { values: options, positionals: names } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '5' },
        scenario: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
    if (options.help) {
      console.log(USAGE)
      process.exit()
    }
    const unknown = names.find((name) => !SUBJECTS.includes(name))
    if (unknown !== undefined) throw new Error(`"${unknown}" is no subject.`)
    const rounds = Number(options.rounds)
    if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error('--rounds is a whole number above 0.')
    return { options, names, rounds }
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`)
    process.exit(2)
  }
}

async function importOf(name) {
  try {
    // Without it Node would take what it finds in the folder above.
    if (!existsSync(new URL('node_modules/', import.meta.url))) throw new Error('Nothing is installed.')
    await import('@sluice/limiter')
    return await import(`./subjects/${name}.mjs`)
  } catch (error) {
    console.error(error.message)
    console.error('Install and build first: npm ci && npm run build in the folder above, npm ci here.')
    process.exit(2)
  }
}

function failed(what, why) {
  failures++
  console.error(`${clock()} ${what} could not be measured: ${why.trim().slice(0, 500)}`)
}

/** Minutes and seconds since the start. */
function clock() {
  const seconds = Math.round((Date.now() - began) / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Medians of every candidate's figures, but of one that fails at once. */
async function measured(name, scenario, candidates) {
  const all = new Map(candidates.map((candidate) => [candidate, []]))
  console.error(`${clock()} ${name}: ${scenario}, ${candidates.length} candidates`)
  for (let round = 0; round < rounds; round++) {
    for (const candidate of all.keys()) {
      const line = ['--expose-gc', new URL('one.mjs', import.meta.url).pathname, name, scenario, candidate]
      const { stdout, stderr } = spawnSync(process.execPath, line, { encoding: 'utf8', timeout: DEADLINE_MS })
      const last = stdout.trim().split('\n').at(-1)
      if (last.startsWith('{')) all.get(candidate).push(JSON.parse(last))
      else failed(`${name}: ${scenario}: ${candidate}`, stderr || 'it took too long')
      if (all.get(candidate).length === 0) all.delete(candidate)
    }
  }
  return [...all].map(([candidate, runs]) => {
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
    return { candidate, figures }
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
