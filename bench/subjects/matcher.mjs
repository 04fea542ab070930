// Finding the rule of a request among 10 to 10,000 of one shape: nanoseconds of CPU; loading and compiling: milliseconds.
import { ownCpu } from '../cpu.mjs'

const COUNTS = [10, 100, 1_000, 10_000]
const MEASURED_US = 100_000

const limits = (n, when) =>
  `domain: d\nlimits:\n${each(n, (i) => `  - name: r${i}\n    when: ${JSON.stringify(when(i))}\n    key: [ip]\n    limit: 100/minute\n`)}`
const descriptors = (n, value) =>
  `domain: d\ndescriptors:\n${each(n, (i) => `  - { key: tenant, value: "${value(i)}", rate_limit: { unit: minute, requests_per_unit: 100 } }\n`)}`
const each = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join('')
const request = (more) => ({ method: 'GET', path: '/', ip: '192.0.2.1', ...more })
const tenant = (value) => [{ entries: [{ key: 'tenant', value }] }]

const SHAPES = {
  'path /api/N/**': [
    (n) => limits(n, (i) => ({ path: `/api/s${i}/**` })),
    (i) => request({ path: `/api/s${i}/items/42` }),
  ],
  'path /a/:x/N': [
    (n) => limits(n, (i) => ({ path: `/a/:x/s${i}` })),
    (i) => request({ path: `/a/77/s${i}` }),
  ],
  'path /**/N': [(n) => limits(n, (i) => ({ path: `/**/f${i}` })), (i) => request({ path: `/a/b/f${i}` })],
  'host N.example.com': [
    (n) => limits(n, (i) => ({ host: `t${i}.example.com` })),
    (i) => request({ host: `t${i}.example.com` }),
  ],
  'host *.N.example.com': [
    (n) => limits(n, (i) => ({ host: `*.t${i}.example.com` })),
    (i) => request({ host: `www.t${i}.example.com` }),
  ],
  'header N': [
    (n) => limits(n, (i) => ({ header: { 'x-tenant': `t${i}` } })),
    (i) => request({ headers: { 'x-tenant': `t${i}` } }),
  ],
  'ip /24': [
    (n) => limits(n, (i) => ({ ip: `10.${i >> 8}.${i & 255}.0/24` })),
    (i) => request({ ip: `10.${i >> 8}.${i & 255}.7` }),
  ],
  'descriptor N': [(n) => descriptors(n, (i) => `t${i}`), (i) => tenant(`t${i}`)],
  'descriptor N-*': [(n) => descriptors(n, (i) => `t${i}-*`), (i) => tenant(`t${i}-x`)],
  'descriptor *-N': [(n) => descriptors(n, (i) => `*-t${i}`), (i) => tenant(`x-t${i}`)],
}

export const scenarios = Object.fromEntries(
  Object.keys(SHAPES).map((name) => [name, { unit: 'ns', candidates: COUNTS.map((n) => `${n} rules`) }]),
)

export const tables = [{ head: 'ns', columns: Object.keys(SHAPES), turned: true }]

export async function run(scenario, candidate) {
  const { loadText } = await import('@sluice/rulebook')
  const { compile, matchDescriptors, matchRequest } = await import('@sluice/limiter/rules')
  const n = Number.parseInt(candidate, 10)
  const [textOf, askOf] = SHAPES[scenario]
  const text = textOf(n)
  const before = ownCpu()
  const rules = compile(loadText(text))
  const loadMs = (ownCpu() - before) / 1_000
  const match = scenario.startsWith('descriptor') ? matchDescriptors : matchRequest
  const questions = Array.from({ length: 1_000 }, (_, k) => askOf(Math.floor((k * n) / 1_000)))
  if (match(rules, 'd', questions[0]).steps.length !== 1) throw new Error(`${scenario} does not match`)
  const runs = []
  for (let round = 0; round < 3; round++) {
    const start = ownCpu()
    let done = 0
    while (ownCpu() - start < MEASURED_US)
      for (let j = 0; j < 100; j++) match(rules, 'd', questions[done++ % 1_000])
    runs.push(((ownCpu() - start) * 1_000) / done)
  }
  return { ns: Math.min(...runs), loadMs }
}
