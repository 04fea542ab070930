import { randomBytes } from 'node:crypto'
import {
  type AdmissionBound,
  type Arrival,
  arrivalsOf,
  asCheck,
  asRequest,
  boundOf,
  checkAnswers,
  createSender,
  findFaults,
  hasKeys,
  isOwnTarget,
  type LoadSender,
  type LoadShape,
  logArrivals,
  originOf,
  type RequestTemplate,
  requestMaker,
  ruleCases,
  runLoad,
  seededRandom,
  statedBound,
  tryRules,
  zipfRanks,
} from '@sluice/lab'
import { algorithms, type Policy, planOf } from '@sluice/limiter/algorithms'
import { ConfigError } from '@sluice/limiter/errors'
import { unknownName } from '../arguments.ts'
import { type Command, defineCommand, type ExitCode } from '../command.ts'
import type { Io } from '../io.ts'
import { openTraffic } from '../lab/traffic.ts'
import { LOAD_OPTIONS, type LoadValues } from '../load/load-options.ts'
import { breachesIn, faultsTextOf, loadTextOf, rulesTextOf } from '../load/reports.ts'
import { millisecondsIn, numberIn, quotaIn, timeIn } from '../numbers.ts'
import { chooseDomain, loadRules } from '../rules.ts'
import { onSignals } from '../until-signal.ts'
import { UsageError } from '../usage-error.ts'

const HOUR_MS = 3_600_000
/** A search for faults, and a trial of rules, end then. */
const MOST_SEARCH_MS = 60_000
const MOST_TRIAL_MS = 120_000
/** Requests under way at once. */
const MOST_IN_FLIGHT = 20_000
const MOST_OWN_ADDRESSES = 1_000

/** Drives a limiter by a schedule, and checks what it answers. */
export const load: Command = defineCommand({
  name: 'load',
  summary: 'sends requests by a schedule, and checks that limits are kept',
  operands: 'TARGET',
  options: LOAD_OPTIONS,
  notes: `TARGET is an http URL: of /v1/check of a service, or of any gateway or application. {key} in the URL,
in a header or in the body stands for the key of each request.

Requests are sent at their times, whether others were answered or not, and latency counts from the time
at which a request should have been sent. Exit code 1 says that a limit is not kept. SIGINT (Ctrl-C)
ends it.`,
  async run(operands, given, io) {
    const values = given as LoadValues
    const [target = '', ...more] = operands
    if (!/^https?:\/\//.test(target) || !URL.canParse(target) || more.length > 0)
      throw new UsageError('name one target, such as http://127.0.0.1:3000/')
    if (!isOwnTarget(target, values['target-is-mine'] ?? []))
      throw new UsageError(
        `${new URL(target).hostname} is not this machine: if you may load it, say so with --target-is-mine ${new URL(target).hostname}`,
      )
    const template = templateOf(target, values)
    const sender = createSender(originOf(template), {
      isCheck: isCheck(target),
      connections: numberIn('connections', values.connections, [1, 1_000]) ?? 100,
      timeoutMs: timeIn('timeout', values.timeout, [1, 60_000]) ?? 10_000,
    })
    const leaving = new AbortController()
    const leave = (): void => {
      leaving.abort()
      void sender.stop()
    }
    const endSignals = onSignals(io, leave)
    try {
      const run = values.rules !== undefined ? rulesRun : values['find-faults'] ? faultsRun : loadRun
      return await run({ target, template, sender, signal: leaving.signal, values, io })
    } finally {
      endSignals()
      await sender.stop()
    }
  },
})

interface Run {
  readonly target: string
  readonly template: RequestTemplate
  readonly sender: LoadSender
  readonly signal: AbortSignal
  readonly values: LoadValues
  readonly io: Io
}

async function loadRun({ target, template, sender, signal, values, io }: Run): Promise<ExitCode> {
  const random = seededRandom(
    numberIn('seed', values.seed, [0, 2 ** 32 - 1]) ?? randomBytes(4).readUInt32LE(),
  )
  const ownKeys = hasKeys(template)
  const count =
    numberIn('keys', values.keys, [1, template.ownAddresses ? MOST_OWN_ADDRESSES : 1_000_000]) ?? 100
  const rank = zipfRanks(ownKeys ? count : 1, numberIn('zipf', values.zipf, [0, 10]) ?? 1, random)
  const bound = boundIn(values)
  const request = requestMaker(template)
  const prefix = runName()
  const durationMs = timeIn('duration', values.duration, [1, HOUR_MS]) ?? 10_000
  const [figures, findings] = await Promise.all([
    runLoad({
      arrivals: arrivalsIn(values, target, template, durationMs, random, io),
      key: () => `${prefix}-${rank()}`,
      request,
      sender,
      bound,
      maxInFlight: MOST_IN_FLIGHT,
      signal,
    }),
    bound === undefined || !ownKeys || values.log !== undefined
      ? []
      : checkAnswers({
          stated: bound,
          request,
          sender,
          freshKey: keysOf(prefix),
          signal: untilOver(signal, durationMs),
        }),
  ])
  const breaches = breachesIn(figures, findings, bound !== undefined)
  const report = { target, ...figures, findings, breaches }
  io.stdout.write(values.format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : loadTextOf(report))
  if (!signal.aborted && Object.keys(figures.statuses).join() === NO_STATUS) {
    io.stderr.write(`sluice: no request was answered: does a server listen at ${originOf(template)}?\n`)
    return 2
  }
  return breaches.length > 0 ? 1 : 0
}

/** All that came of requests that nobody answered. */
const NO_STATUS = '0'

async function faultsRun({ target, template, sender, signal, values, io }: Run): Promise<ExitCode> {
  if (values.algorithm !== undefined) throw new UsageError('--find-faults knows nothing of an --algorithm')
  const stated = boundIn(values)
  if (stated === undefined)
    throw new UsageError('--find-faults needs the limit of one key: --limit COUNT/PERIOD')
  if (!hasKeys(template))
    throw new UsageError('--find-faults needs keys: write {key} where the key is, or --own-addresses')
  const { findings, seconds } = await findFaults({
    stated,
    request: requestMaker(template),
    sender,
    freshKey: keysOf(runName()),
    signal: untilOver(signal, MOST_SEARCH_MS),
  })
  const report = { target, seconds, findings }
  io.stdout.write(
    values.format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : faultsTextOf(findings, seconds),
  )
  return findings.some(({ found }) => found) ? 1 : 0
}

async function rulesRun({ target, template, sender, signal, values, io }: Run): Promise<ExitCode> {
  const { domains, rules } = await loadRules([values.rules!], values, io)
  const chosen = values.domain === undefined ? domains : [chooseDomain(domains, values.domain, '--domain')]
  const addressed = isCheck(target) ? asCheck(new URL(target).pathname) : asRequest(values['ip-header'])
  const { headers } = template
  const { cases, passed } = ruleCases(rules, chosen, (domain, request) => {
    const asked = addressed(domain, request)
    return typeof asked === 'string' ? asked : { ...asked, headers: { ...headers, ...asked.headers } }
  })
  if (cases.length === 0)
    throw new UsageError(
      `no limit can be tried: ${passed.map(({ name, reason }) => `${name}: ${reason}`).join('; ')}`,
    )
  const results = await tryRules(cases, {
    sender,
    tolerance: numberIn('tolerance', values.tolerance, [0, 1]) ?? 0.05,
    mostEdgeMs: timeIn('edge-wait', values['edge-wait'], [0, 3_600_000]) ?? 10_000,
    prefix: `${runName()}-`,
    signal: untilOver(signal, MOST_TRIAL_MS),
  })
  const report = { target, rules: results, passed }
  io.stdout.write(
    values.format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : rulesTextOf(results, passed),
  )
  return results.some(({ breaches }) => breaches.length > 0) ? 1 : 0
}

function isCheck(target: string): boolean {
  return new URL(target).pathname.endsWith('/v1/check')
}

function templateOf(url: string, values: LoadValues): RequestTemplate {
  const headers = (values.header ?? []).map((text) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(text) ?? []
    if (name === undefined) throw new UsageError(`--header must be NAME:VALUE, not ${JSON.stringify(text)}`)
    return [name.toLowerCase(), value!] as const
  })
  return {
    url: new URL(url).pathname === '/' && !/^https?:\/\/[^/]+\//.test(url) ? `${url}/` : url,
    method: values.method,
    headers: Object.fromEntries(headers),
    body: values.body,
    ownAddresses: values['own-addresses'],
  }
}

function arrivalsIn(
  values: LoadValues,
  target: string,
  { headers = {} }: RequestTemplate,
  durationMs: number,
  random: () => number,
  io: Io,
): Parameters<typeof runLoad>[0]['arrivals'] {
  if (values.log === undefined) return arrivalsOf(shapeIn(values), durationMs, random)
  return logged(values, target, headers, io)
}

/** The requests of a log. */
async function* logged(
  values: LoadValues,
  target: string,
  headers: Readonly<Record<string, string>>,
  io: Io,
): AsyncGenerator<Arrival> {
  if (isCheck(target) && values.domain === undefined)
    throw new UsageError('--log asks a service about a domain: name it with --domain')
  const speed = numberIn('speed', values.speed, [0.001, 100_000]) ?? 1
  const check = asCheck(new URL(target).pathname)
  const { sources, options, stop } = openTraffic(values.log ?? [], values, io)
  try {
    yield* logArrivals(sources, options, speed, (request) => {
      if (isCheck(target)) return check(values.domain ?? '', request)
      const { method = 'GET', path = '/', query, ip = '' } = request
      const own = Object.entries(headers).map(([name, value]) => [name, value.replaceAll('{key}', ip)])
      const search = query === undefined ? '' : `?${new URLSearchParams(query as Record<string, string>)}`
      return { method, path: `${path}${search}`, headers: Object.fromEntries(own) }
    })
  } finally {
    stop()
  }
}

function shapeIn(values: LoadValues): LoadShape {
  const kind = (values.shape ?? 'constant') as LoadShape['kind']
  const rate = numberIn('rate', values.rate, [0.01, 100_000]) ?? 100
  const from = numberIn('from', values.from, [0.01, 100_000]) ?? 1
  const size = numberIn('size', values.size, [1, 100_000]) ?? 100
  const everyMs = timeIn('every', values.every, [10, HOUR_MS]) ?? 1_000
  if (kind === 'ramp') return { kind, from, rate }
  if (kind === 'burst') return { kind, rate, size, everyMs }
  return kind === 'herd' ? { kind, rate, everyMs } : { kind, rate }
}

/** What `--limit`, `--burst` and `--algorithm` say. @throws UsageError */
function boundIn({ limit: text, burst, algorithm }: LoadValues): AdmissionBound | undefined {
  if (text === undefined) {
    if (burst ?? algorithm) throw new UsageError('--burst and --algorithm need a --limit')
    return undefined
  }
  const { limit, period } = quotaIn('limit', text)
  const size = numberIn('burst', burst, [1, 1_000_000])
  if (algorithm === undefined) return statedBound(limit, millisecondsIn(period)!, size)
  if (!Object.hasOwn(algorithms, algorithm))
    throw new UsageError(unknownName('algorithm', algorithm, Object.keys(algorithms)))
  try {
    const plan = planOf({ algorithm, limit, period, ...(size && { burst: size }) } as Policy)
    const bound = boundOf(plan)
    if (bound !== undefined) return bound
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(`--algorithm ${algorithm}: ${error.message}`) : error
  }
  throw new UsageError(`--algorithm ${algorithm}: what it admits cannot be counted from outside`)
}

function untilOver(signal: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)])
}

/** So that what earlier runs used does not count. */
function runName(): string {
  return `load${randomBytes(4).toString('hex')}`
}

function keysOf(prefix: string): () => string {
  let keys = 0
  return () => `${prefix}-new${keys++}`
}
