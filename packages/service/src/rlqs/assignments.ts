import { type Observer, observerOf } from '@sluice/limiter/events'
import type { Rules } from '@sluice/limiter/rules'
import { Assigner } from './assigner.ts'
import type { RlqsOptions } from './options.ts'
import { type QuotaCall, serveStream } from './stream.ts'
import { targetsOf } from './target.ts'

/** Assigns the limits in force to the proxies that are connected. */
export interface Assignments {
  readonly assigner: Assigner
  /** Takes the rules over, whenever others are in force. */
  readonly observe: Observer
  /** From now on proxies may come. */
  start(): void
  serve(call: QuotaCall): void
  /** Ends all streams: proxies go on by what they were assigned last. */
  stop(): void
}

/** In this time what is sent on an open stream has arrived. */
const DELIVERY_MS = 500
/** A bucket without requests for so long is forgotten, and so are its counters in the proxy. */
const IDLE_MS = 600_000
const TICK_MS = 250

/** @param rules those in force */
export function assignmentsOf(options: RlqsOptions, rules: () => Rules): Assignments {
  const { ttlMs = 30_000, leastShare = 0.1, nodes = 1, maxStreams = 1_000, maxBuckets = 50_000 } = options
  const settings = {
    ttlMs,
    least: leastShare,
    deliveryMs: DELIVERY_MS,
    idleMs: IDLE_MS,
    maxStreams,
    maxBuckets,
  }
  const assigner = new Assigner(settings, () => undefined)
  const calls = new Set<QuotaCall>()
  let ticks: NodeJS.Timeout | undefined
  return {
    assigner,
    observe: observerOf(['reloaded'], (event) => {
      if (event.type === 'reloaded' && event.result === 'changed')
        assigner.useRules(targetsOf(rules(), nodes))
    }),
    start() {
      assigner.start(performance.now())
      ticks = setInterval(() => assigner.tick(performance.now()), TICK_MS).unref()
    },
    serve(call) {
      if (ticks === undefined) return void call.end()
      calls.add(call)
      for (const event of ['close', 'cancelled']) call.on(event, () => calls.delete(call))
      serveStream(call, assigner)
    },
    stop() {
      clearInterval(ticks)
      ticks = undefined
      for (const call of calls) call.end()
    },
  }
}
