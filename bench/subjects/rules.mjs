// Rules from files: the time until 10,000 are in force, and what a reload of them costs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { compile } from '@sluice/limiter/rules'
import { parseRulebook, readRulebook } from '@sluice/rulebook'
import { createService } from '@sluice/service'
import { ownCpu } from '../cpu.mjs'

const COUNT = 10_000
const listOf = (list, rule) =>
  `domain: d\n${list}:\n${Array.from({ length: COUNT }, (_, i) => `  - ${rule(i)}\n`).join('')}`
/** Each by a limit, so that a file can be changed. */
const RULEBOOKS = {
  limits: (limit) =>
    listOf(
      'limits',
      (i) => `{ name: r${i}, when: { path: /api/s${i}/** }, key: [ip], limit: ${limit}/minute }`,
    ),
  'limits, a field a line': (limit) =>
    listOf(
      'limits',
      (i) => `name: r${i}\n    when:\n      path: /api/s${i}/**\n    key: [ip]\n    limit: ${limit}/minute`,
    ),
  'limits, by an anchor': (limit) =>
    listOf('limits', (i) =>
      i === 0
        ? `&first { name: r0, key: [ip], limit: ${limit}/minute }`
        : `{ <<: *first, name: r${i}, when: { path: /api/s${i}/** } }`,
    ),
  descriptors: (limit) =>
    listOf(
      'descriptors',
      (i) => `{ key: tenant, value: t${i}, rate_limit: { unit: hour, requests_per_unit: ${limit} } }`,
    ),
}
const CANDIDATES = Object.keys(RULEBOOKS)
const SCENARIOS = { read: reading, compile: compiling, reload: reloading }

export const scenarios = Object.fromEntries(
  Object.keys(SCENARIOS).map((name) => [name, { unit: 'ms', candidates: CANDIDATES }]),
)

export const tables = [
  {
    head: 'ms for 10,000 rules',
    columns: ['read', 'compile', 'reload', ['reload, longest wait of a request', 'reload', 'stall']],
  },
]

export async function run(scenario, candidate) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const file = join(folder, 'rules.yaml')
  try {
    writeFileSync(file, RULEBOOKS[candidate](100))
    return await SCENARIOS[scenario](file, candidate)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function reading(file) {
  const files = await readRulebook([file])
  return timed(() => parseRulebook(files))
}

async function compiling(file) {
  const domains = parseRulebook(await readRulebook([file]))
  return timed(() => compile(domains))
}

/** All threads; and for how long at most a request waits, in milliseconds of the clock. */
async function reloading(file, candidate) {
  const service = createService({
    rules: [file],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    watch: false,
    log: { level: 'silent' },
  })
  await service.start()
  writeFileSync(file, RULEBOOKS[candidate](200))
  await new Promise((resolve) => setTimeout(resolve, 500)) // so that the file has settled
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const began = ownCpu()
  const { result } = await service.reload()
  const ms = (ownCpu() - began) / 1_000
  if (result !== 'changed') throw new Error(`the reload was ${result}`)
  return { ms, stall: delay.max / 1e6 }
}

function timed(work) {
  const began = ownCpu()
  work()
  return { ms: (ownCpu() - began) / 1_000 }
}
