import { compile } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { BucketId } from './bucket-id.ts'
import { Bench, ModelProxy, sumOf } from './proxies.test-support.ts'
import { type FindTarget, targetsOf } from './target.ts'

function rules(limit: string): FindTarget {
  const text = `domain: edge\nlimits: [{ name: all, key: [], ${limit} }]`
  return targetsOf(compile(loadText(text)), 1)
}

/** Rulebooks that replace each other, and what they allow a second and at once. */
const RULEBOOKS: readonly { find: FindTarget; perSecond: number; burst: number }[] = [
  { find: rules('limit: 100/second, assign: rlqs'), perSecond: 100, burst: 100 },
  { find: rules('limit: 50/second, burst: 7, assign: rlqs'), perSecond: 50, burst: 7 },
  { find: rules('limit: 300/minute, burst: 400, assign: rlqs'), perSecond: 5, burst: 400 },
  { find: rules('limit: 90000/1000s, burst: 60, assign: rlqs'), perSecond: 90, burst: 60 },
  { find: rules('limit: 100/second'), perSecond: 0, burst: 0 },
]
/** Of one counter, under two names. */
const BUCKETS: readonly BucketId[] = [{ limit: 'all' }, { limit: 'all', route: 'a' }]
const PROXIES = 3
/** Short times, so that all ends and renewals meet in short walks. */
const SETTINGS = { ttlMs: 4_000, deliveryMs: 500, idleMs: 3_000 }
const LONGEST_MS = SETTINGS.ttlMs + SETTINGS.deliveryMs

type Event =
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'connect'; readonly proxy: number }
  | { readonly type: 'restart' | 'stall'; readonly proxy: number }
  | { readonly type: 'disconnect'; readonly proxy: number; readonly lost: number }
  | { readonly type: 'report'; readonly proxy: number; readonly bucket: number; readonly count: number }
  | { readonly type: 'reload'; readonly rulebook: number }

const proxy = fc.nat({ max: PROXIES - 1 })
const ms = (most: number) => fc.integer({ min: 1, max: most / 50 }).map((n) => n * 50)
const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('pass'), ms: ms(600) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('pass'), ms: ms(6_000) }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('connect'), proxy }) },
    {
      weight: 10,
      arbitrary: fc.record({
        type: fc.constant('report'),
        proxy,
        bucket: fc.nat({ max: 1 }),
        count: fc.constantFrom(0, 1, 500),
      }),
    },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('disconnect'), proxy, lost: fc.nat({ max: 2 }) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('restart', 'stall', 'stall'), proxy }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('reload'), rulebook: fc.nat({ max: RULEBOOKS.length - 1 }) }),
    },
  ) as fc.Arbitrary<Event>,
  { minLength: 20, maxLength: 100, size: 'max' },
)

describe('whatever the order of reports, joins, leaves, expiries and reloads', () => {
  it.each([
    ['proxies that are known again', true],
    ['proxies that say no name', false],
  ])('what %s go by adds up to the limit at most, at every moment', (_, named) => {
    const delays = fc.array(fc.nat({ max: SETTINGS.deliveryMs - 1 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(events, delays, (list, delays) => {
        const walk = new Walk(named, delays)
        for (const event of list) walk.take(event)
      }),
      { numRuns: Number(process.env.SLUICE_RUNS ?? 300) },
    )
  })
})

class Walk {
  readonly #bench: Bench
  readonly #delay: () => number
  /** Rulebooks, and until when what they allowed may still be gone by. */
  #allowed: { perSecond: number; burst: number; until: number }[] = [
    { ...RULEBOOKS[0]!, until: Number.POSITIVE_INFINITY },
  ]

  constructor(named: boolean, delays: readonly number[]) {
    const proxies = Array.from(
      { length: PROXIES },
      (_, i) => new ModelProxy(named ? `proxy-${i}` : undefined),
    )
    this.#bench = new Bench(RULEBOOKS[0]!.find, proxies, SETTINGS)
    let sent = 0
    this.#delay = () => delays[sent++ % delays.length]!
    for (const proxy of proxies) proxy.connect(this.#bench, this.#delay)
  }

  take(event: Event): void {
    const bench = this.#bench
    if (event.type === 'pass') bench.pass(event.ms, this.#look)
    else if (event.type === 'reload') this.#reload(event.rulebook)
    else {
      const proxy = bench.proxies[event.proxy]!
      if (event.type === 'connect') proxy.stream ?? proxy.connect(bench, this.#delay)
      else if (event.type === 'disconnect') proxy.disconnect(bench, event.lost)
      else if (event.type === 'restart') proxy.restart(bench)
      else if (event.type === 'stall') proxy.stall(bench.now)
      else if (event.type === 'report') proxy.report(bench, BUCKETS[event.bucket]!, event.count)
    }
    this.#look()
  }

  #reload(rulebook: number): void {
    const until = this.#bench.now + LONGEST_MS
    this.#allowed = this.#allowed.map((each) => ({ ...each, until: Math.min(each.until, until) }))
    this.#allowed.push({ ...RULEBOOKS[rulebook]!, until: Number.POSITIVE_INFINITY })
    this.#bench.assigner.useRules(RULEBOOKS[rulebook]!.find)
  }

  readonly #look = (): void => {
    const { now } = this.#bench
    // What waits to leave may be gone by later.
    const delayed = this.#bench.proxies.some(({ isStalled }) => isStalled) ? now + LONGEST_MS : 0
    for (const each of this.#allowed) if (each.until > now) each.until = Math.max(each.until, delayed)
    const allowed = this.#allowed.filter(({ until }) => until > now)
    const held = sumOf(BUCKETS.flatMap((bucket) => this.#bench.rates(bucket)))
    const perSecond = Math.max(...allowed.map((each) => each.perSecond))
    const burst = Math.max(...allowed.map((each) => each.burst))
    if (held.perSecond > perSecond + 1e-9 || held.burst > burst)
      throw new Error(
        `${JSON.stringify(held)} is held of ${perSecond} a second and ${burst} at once, at ${now}`,
      )
  }
}
