// Finding the rule of a request among 10 to 10,000 of one shape: nanoseconds of CPU; loading and compiling: milliseconds.
import { nsOf, ownCpu } from '../cpu.mjs'

const COUNTS = [10, 1_000, 10_000]

const limits = (n, when) =>
  `domain: d\nlimits:\n${each(n, (i) => `  - name: r${i}\n    when: ${JSON.stringify(when(i))}\n    key: [ip]\n    limit: 100/minute\n`)}`
const descriptors = (n, value) =>
  `domain: d\ndescriptors:\n${each(n, (i) => `  - { key: tenant, value: "${value(i)}", rate_limit: { unit: minute, requests_per_unit: 100 } }\n`)}`
const each = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join('')
const request = (more) => ({ method: 'GET', path: '/', ip: '192.0.2.1', ...more })
const tenant = (value) => [{ entries: [{ key: 'tenant', value }] }]

const SHAPES = {
  'path /api/N': [(n) => limits(n, (i) => ({ path: `/api/s${i}` })), (i) => request({ path: `/api/s${i}` })],
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
  'query N': [
    (n) => limits(n, (i) => ({ query: { tenant: `t${i}` } })),
    (i) => request({ query: { tenant: `t${i}` } }),
  ],
  'method, path and header N': [
    (n) => limits(n, (i) => ({ method: 'GET', path: '/api/**', header: { 'x-tenant': `t${i}` } })),
    (i) => request({ path: '/api/items', headers: { 'x-tenant': `t${i}` } }),
  ],
  ip: [
    (n) => limits(n, (i) => ({ ip: `10.0.${i >> 8}.${i & 255}` })),
    (i) => request({ ip: `10.0.${i >> 8}.${i & 255}` }),
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
  let next = 0
  return { ns: nsOf(() => match(rules, 'd', questions[next++ % 1_000])), loadMs }
}
