import { Assigner, type Usage } from './assigner.ts'
import type { BucketId } from './bucket-id.ts'
import type { Action, Assignment, Stream } from './holder.ts'
import type { FindTarget } from './target.ts'

export const SETTINGS = {
  ttlMs: 30_000,
  least: 0.1,
  deliveryMs: 500,
  idleMs: 600_000,
  maxStreams: 100,
  maxBuckets: 10_000,
}
/** As the service does it. */
const TICK_MS = 250

/** What a proxy goes by, as Envoy keeps it: made anew for each test, and written from Envoy's side alone. */
export class ModelProxy {
  readonly buckets: Map<string, { assignment: Assignment; until: number }> = new Map()
  readonly known: Set<string> = new Set()
  stream: Stream | undefined
  isStalled = false
  #stalledUntil = Number.NEGATIVE_INFINITY
  readonly #name: string | undefined
  readonly #onTheWay: { at: number; action: Action }[] = []

  constructor(name?: string) {
    this.#name = name
  }

  /** @param delay milliseconds that each message takes */
  connect(bench: Bench, delay: () => number): boolean {
    const stream: Stream = {
      proxy: this.#name,
      busyUntil: (now) => (this.isStalled ? now : this.#stalledUntil),
      send: (actions) => {
        const at = Math.max(bench.now + delay(), this.#onTheWay.at(-1)?.at ?? 0)
        for (const action of actions) this.#onTheWay.push({ at, action })
      },
    }
    if (!bench.assigner.open(stream)) return false
    this.stream = stream
    return true
  }

  /** @param lost how many of the messages on the way never arrive */
  disconnect(bench: Bench, lost: number): void {
    if (this.stream === undefined) return
    this.#onTheWay.splice(Math.max(0, this.#onTheWay.length - lost))
    for (const { action } of this.#onTheWay.splice(0)) this.#take(action, bench.now)
    bench.assigner.close(this.stream, bench.now)
    this.stream = undefined
    this.isStalled = false
    this.#stalledUntil = Number.NEGATIVE_INFINITY
  }

  /** What is sent waits until it is called again. */
  stall(now: number): void {
    if (this.stream === undefined) return
    if (this.isStalled) this.#stalledUntil = now
    this.isStalled = !this.isStalled
  }

  /** The process is another one. */
  restart(bench: Bench): void {
    this.disconnect(bench, 0)
    this.buckets.clear()
    this.known.clear()
  }

  report(bench: Bench, bucket: BucketId, allowed: number, denied = 0, elapsedMs = 5_000): void {
    if (this.stream === undefined) return
    const name = JSON.stringify(bucket)
    const usage: Usage = { bucket, elapsedMs: this.known.has(name) ? elapsedMs : 0, allowed, denied }
    this.known.add(name)
    bench.assigner.report(this.stream, bench.domain, [usage], bench.now)
  }

  receive(now: number): void {
    if (!this.isStalled) {
      while (this.#onTheWay.length > 0 && this.#onTheWay[0]!.at <= now)
        this.#take(this.#onTheWay.shift()!.action, now)
    }
    for (const [name, { until }] of this.buckets) if (until <= now) this.buckets.delete(name)
  }

  #take({ bucket, assignment, ttlMs }: Action, now: number): void {
    const name = JSON.stringify(bucket)
    if (assignment === 'abandon') {
      this.buckets.delete(name)
      this.known.delete(name)
    } else if (this.known.has(name)) this.buckets.set(name, { assignment, until: now + ttlMs })
  }
}

/** An assigner, its proxies and their clock. */
export class Bench {
  now = 0
  readonly domain = 'edge'
  readonly assigner: Assigner
  readonly proxies: readonly ModelProxy[]

  constructor(find: FindTarget, proxies: readonly ModelProxy[], settings: Partial<typeof SETTINGS> = {}) {
    this.assigner = new Assigner({ ...SETTINGS, ...settings }, find)
    this.assigner.start(0)
    this.proxies = proxies
  }

  /** Lets time pass, and looks at each step. */
  pass(ms: number, look: () => void = () => undefined): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += Math.min(TICK_MS / 5, end - this.now)
      for (const proxy of this.proxies) proxy.receive(this.now)
      look()
      if (this.now % TICK_MS === 0) this.assigner.tick(this.now)
      look()
    }
  }

  /** Tokens a second that each proxy goes by, and the burst. */
  rates(bucket: BucketId): readonly { perSecond: number; burst: number }[] {
    return this.proxies.map(({ buckets }) => {
      const assignment = buckets.get(JSON.stringify(bucket))?.assignment
      if (typeof assignment !== 'object') return { perSecond: 0, burst: 0 }
      return { perSecond: assignment.tokens / assignment.seconds, burst: assignment.burst }
    })
  }
}

/** A sum of what proxies go by. */
export function sumOf(rates: readonly { perSecond: number; burst: number }[]): {
  perSecond: number
  burst: number
} {
  return rates.reduce(
    (sum, { perSecond, burst }) => ({ perSecond: sum.perSecond + perSecond, burst: sum.burst + burst }),
    { perSecond: 0, burst: 0 },
  )
}
