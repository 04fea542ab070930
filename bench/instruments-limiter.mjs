// One limiter for instruments.mjs: `node instruments-limiter.mjs NAME STREAM`. Decides whenever it is asked, and says how
// many nanoseconds of CPU a decision took.
import { subscribe } from 'node:diagnostics_channel'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base'
import { createLimiter } from '@sluice/limiter'
import { diagnostics } from '@sluice/limiter/diagnostics'
import { everyObserver } from '@sluice/limiter/events'
import { createOffenders } from '@sluice/limiter/offenders'
import { spanEvents } from '@sluice/observe/opentelemetry'
import { LiveFigures, RefusalLog, Tallies } from '@sluice/observe/parts'

const DECISIONS = 400_000
/** Decisions in one request, each of which may be recorded. */
const AT_ONCE = 100
const KEYS = 100_000

const counts = () => true
const now = Date.now
const tallies = () => new Tallies(counts)
const figures = (of) => new LiveFigures({ tallies: of, stores: {}, rules: () => ({}), counts, now }).observe
const refusals = () => new RefusalLog({ log: { info() {} }, showKey: (key) => key, counts, now }).observe

const CANDIDATES = {
  off: () => undefined,
  'diagnostics, nobody listens': () => diagnostics(),
  'an empty observer': () => () => {},
  metrics: () => tallies().observe,
  offenders: () => createOffenders().observe,
  'live figures': () => figures(tallies()),
  'log of refusals': refusals,
  'spans, 1 % recorded': () => spanEvents(trace),
  'all of these, and a subscriber': () => {
    subscribe('sluice:decided', () => {})
    const own = tallies()
    const all = [own.observe, createOffenders().observe, figures(own), refusals(), spanEvents(trace)]
    return everyObserver(...all, diagnostics()).observe
  },
}

/** Keys as they come: evenly, or a few of them most of the time. */
const STREAMS = {
  'keys that come evenly': (i) => (i * 7_919) % KEYS,
  'keys of which few come most often': (i) => Math.floor(KEYS ** (((i * 7_919) % KEYS) / KEYS)),
}

const [, , name, stream] = process.argv
if (name === 'list') process.send({ names: Object.keys(CANDIDATES), streams: Object.keys(STREAMS) })
else {
  const observe = CANDIDATES[name]()
  const limiter = createLimiter({
    policies: { api: { algorithm: 'gcra', limit: 1_000_000, period: '1m' } },
    ...(observe && { observe }),
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const tracer = new BasicTracerProvider({ sampler: new TraceIdRatioBasedSampler(0.01) }).getTracer('bench')
  const bytes = Buffer.from(
    Array.from({ length: KEYS }, (_, i) => `user:${`${i}`.padStart(11, '0')}`).join(''),
  )
  const order = Uint32Array.from({ length: DECISIONS }, (_, i) => STREAMS[stream](i) * 16)
  const some = (from) => {
    for (let i = from; i < from + AT_ONCE; i++) limiter.check(bytes.latin1Slice(order[i], order[i] + 16)) // a fresh string each time, as a server has
  }
  process.on('message', () => {
    const before = process.cpuUsage()
    for (let i = 0; i < DECISIONS; i += AT_ONCE)
      context.with(trace.setSpan(context.active(), tracer.startSpan('request')), some, undefined, i)
    const { user, system } = process.cpuUsage(before)
    process.send(((user + system) * 1_000) / DECISIONS)
  })
  process.send('ready')
}
