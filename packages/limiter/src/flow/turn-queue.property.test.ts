import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLimiter, type Limiter, type LimiterPolicy, MemoryStore, type Store } from '../index.ts'
import { createQueue } from '../queue.ts'
import { FakeClock, FakeTimers } from '../testing.ts'

const RUNS = Number(process.env.SLUICE_RUNS ?? 300)
const SEED = process.env.SLUICE_SEED === undefined ? undefined : Number(process.env.SLUICE_SEED)

/** Those whose charges are all made when a call is served. */
const ALGORITHMS = [
  'token-bucket',
  'gcra',
  'fixed-window',
  'sliding-window-log',
  'sliding-window-counter',
] as const

const policy = fc.record({
  algorithm: fc.constantFrom(...ALGORITHMS),
  limit: fc.integer({ min: 1, max: 6 }),
  period: fc.constantFrom(500, 1_000, 3_000),
})

const arrival = fc.record({
  /** Milliseconds after the one before. */
  after: fc.constantFrom(0, 0, 0, 1, 100, 700),
  tenant: fc.constantFrom('a', 'b', 'c'),
  cost: fc.constantFrom(1, 1, 1, 2, 3, 7),
  priority: fc.integer({ min: 0, max: 7 }),
  maxWaitMs: fc.constantFrom(undefined, undefined, 0, 400, 2_000, 10_000),
  leavesAfter: fc.constantFrom(undefined, undefined, undefined, 0, 50, 1_500),
})

type Arrival = typeof arrival extends fc.Arbitrary<infer T> ? T : never

/** Answers by promise, some milliseconds later: the decision is of the instant at which it was asked. */
function slow(store: MemoryStore, timers: FakeTimers, ms: number): Store<true> {
  const later = <T>(value: T): Promise<T> =>
    new Promise((resolve) => void timers.setTimeout(() => resolve(value), ms))
  return {
    async: true,
    decide: (steps, peek) => later(store.decide(steps, peek)),
    settle: (charges, once) => later(store.settle(charges, once)),
    reset: (state) => later(store.reset(state)),
    block: (state, ticks) => later(store.block(state, ticks)),
    close: () => later(store.close()),
  }
}

interface Call extends Arrival {
  readonly i: number
  readonly at: number
  end?: { readonly how: 'served' | 'refused' | 'left'; readonly at: number }
}

/** All calls through a queue, and what became of each. */
async function play(
  policies: { readonly own: LimiterPolicy; readonly shared: LimiterPolicy },
  arrivals: readonly Arrival[],
  latency: number,
) {
  const clock = new FakeClock()
  const start = clock.now()
  const nowMs = (): number => (clock.now() - start) / 1_000
  const timers = new FakeTimers(clock)
  const memory = new MemoryStore({ clock })
  const limiterWith = (store: Store<boolean>): Limiter<string, boolean, string> =>
    createLimiter({
      store,
      policies: {
        own: { ...policies.own, key: 'tenant' },
        shared: { ...policies.shared, key: 'all' },
        // Refuses nothing, and forgets nothing: what is charged there was served.
        audit: { algorithm: 'fixed-window', limit: 1_000_000, period: '3650d', key: 'all' },
      } as Readonly<Record<string, LimiterPolicy>>,
    })
  const queue = createQueue(limiterWith(latency < 0 ? memory : slow(memory, timers, latency)), {
    clock,
    timers,
  })
  const look = limiterWith(memory) as unknown as Limiter<string, false, string>
  const calls: Call[] = []
  const served: Call[] = []
  const freeWhileWaiting: number[] = []
  /** If all who come first in their lanes would be admitted, somebody waits for nothing. */
  const check = (): void => {
    const waiting = calls.filter(({ end }) => end === undefined)
    const heads = ['a', 'b', 'c'].flatMap((tenant) => {
      const [first] = waiting.filter((call) => call.tenant === tenant).sort(inOrder)
      return first === undefined ? [] : [first]
    })
    const free = heads.filter(({ tenant, cost }) => look.peek({ tenant, all: 'all' }, { cost }).allowed)
    if (heads.length > 0 && free.length === heads.length) freeWhileWaiting.push(nowMs())
  }
  for (const [i, given] of arrivals.entries()) {
    await timers.run(given.after)
    if (latency < 0) check()
    const call: Call = { ...given, i, at: nowMs() }
    const { tenant, cost, priority, maxWaitMs, leavesAfter } = given
    const leaving = new AbortController()
    const waits = {
      cost,
      priority,
      ...(maxWaitMs !== undefined && { maxWaitMs }),
      ...(leavesAfter !== undefined && { signal: leaving.signal }),
    }
    if (leavesAfter !== undefined) timers.setTimeout(() => leaving.abort('left'), leavesAfter)
    calls.push(call)
    queue.wait({ tenant, all: 'all' }, waits).then(
      () => {
        call.end = { how: 'served', at: nowMs() }
        served.push(call)
      },
      (error) => {
        call.end = { how: error === 'left' ? 'left' : 'refused', at: nowMs() }
      },
    )
  }
  for (let i = 0; i < 40; i++) {
    await timers.run(997)
    if (latency < 0) check()
  }
  await timers.run(1_000_000)
  return { calls, served, look, freeWhileWaiting, timers }
}

function inOrder(a: Call, b: Call): number {
  return a.priority - b.priority || a.i - b.i
}

const world = fc.record({
  policies: fc.record({ own: policy, shared: policy }),
  arrivals: fc.array(arrival, { minLength: 1, maxLength: 40 }),
})

/** Pairs of one tenant and priority, of which the later one was served first. */
function overtakes(served: readonly Call[]): readonly (readonly [number, number])[] {
  return served.flatMap((first, n) =>
    served
      .slice(n + 1)
      .filter(
        ({ tenant, priority, i }) => tenant === first.tenant && priority === first.priority && i < first.i,
      )
      .map((later) => [later.i, first.i] as const),
  )
}

const late = (calls: readonly Call[]): readonly Call[] =>
  calls.filter(({ at, maxWaitMs, end }) => end?.how === 'served' && end.at - at > (maxWaitMs ?? 1e9))

it('serves none out of order, none late, loses none, and lets none wait while its turn is free', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ policies, arrivals }) => {
      const { calls, served, freeWhileWaiting, timers } = await play(policies, arrivals, -1)
      expect(overtakes(served)).toEqual([])
      expect(late(calls)).toEqual([])
      expect(calls.filter(({ end }) => end === undefined)).toEqual([])
      expect(freeWhileWaiting).toEqual([])
      expect(timers.size).toBe(0)
      // Who cannot be served in time goes at once: nobody is refused after having waited, but for those who were overtaken.
      const after = calls.filter(
        ({ at, end, priority }) => end?.how === 'refused' && end.at > at && priority === 0,
      )
      const flood = new Set(calls.map(({ tenant }) => tenant)).size > 1
      if (!flood) expect(after).toEqual([])
    }),
    { numRuns: RUNS, ...(SEED !== undefined && { seed: SEED }) },
  )
})

it('leaks no charge, whoever leaves while the store is being asked', async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.constantFrom(0, 3, 120), async ({ policies, arrivals }, latency) => {
      const { calls, served, look, timers } = await play(policies, arrivals, latency)
      expect(overtakes(served)).toEqual([])
      expect(late(calls)).toEqual([])
      expect(calls.filter(({ end }) => end === undefined)).toEqual([])
      expect(timers.size).toBe(0)
      const audit = look.peek({ tenant: 'a', all: 'all' }, { cost: 0 }).policies[2]!
      expect(audit.limit - audit.remaining!).toBe(served.reduce((sum, { cost }) => sum + cost, 0))
    }),
    { numRuns: RUNS, ...(SEED !== undefined && { seed: SEED }) },
  )
})
