// One service for instruments.mjs: `node instruments-server.mjs off|default|all`. Says how many microseconds of CPU it
// has used to whoever asks.
import { subscribe } from 'node:diagnostics_channel'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'

const [, , instruments, collector] = process.argv

/** The service has no switch for its instruments: for `off`, its bus has no observers. */
const NO_BUS =
  'export * from "@sluice/limiter/events";' +
  'export const everyObserver = () => ({ observe: Object.assign(() => {}, { listens: () => false }), add() {} })'
const HOOKS = `export async function resolve(name, context, next) {
  if (name === '@sluice/limiter/events' && context.parentURL.endsWith('/service/dist/index.js'))
    return { url: 'sluice-bench:no-bus', format: 'module', shortCircuit: true }
  if (context.parentURL === 'sluice-bench:no-bus') return next(name, { ...context, parentURL: ${JSON.stringify(import.meta.url)} })
  return next(name, context)
}
export async function load(url, context, next) {
  if (url === 'sluice-bench:no-bus')
    return { format: 'module', shortCircuit: true, source: ${JSON.stringify(NO_BUS)} }
  return next(url, context)
}`
if (instruments === 'off') register(`data:text/javascript,${encodeURIComponent(HOOKS)}`)

const { createService } = await import('@sluice/service')
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const rules = join(folder, 'rules.yaml')
writeFileSync(
  rules,
  `domain: shop
limits:
  - { name: general, key: [user], limit: 1000000000/day }
  - { name: login, when: { path: /login }, key: [user], limit: 1/day, algorithm: fixed-window }
`,
)
let telemetry
if (instruments === 'all') {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector
  process.env.OTEL_TRACES_SAMPLER = 'parentbased_traceidratio'
  process.env.OTEL_TRACES_SAMPLER_ARG = '0.01'
  process.env.OTEL_METRIC_EXPORT_INTERVAL = '10000' // six times as often as by default
  const { openTelemetry } = await import('@sluice/service/opentelemetry')
  telemetry = openTelemetry()
  subscribe('sluice:decided', () => {})
}
const service = createService({
  rules: [rules],
  http: '127.0.0.1:0',
  admin: '127.0.0.1:0',
  log: {
    refusals: instruments === 'off' ? 'off' : 'hashed',
    stream: new Writable({ write: (_, __, done) => done() }),
  },
  ...(telemetry && { telemetry }),
})
const { http } = await service.start()
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
process.send({ http })
