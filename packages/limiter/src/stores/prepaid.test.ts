import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { planOf } from '../core/decide/algorithms.ts'
import type { AlgorithmName } from '../core/decide/policy.ts'
import type { Step } from '../core/decide/step.ts'
import { StoreError } from '../core/errors.ts'
import { createLimiter } from '../limiter.ts'
import { FakeClock } from '../testing.ts'
import { FallbackStore } from './fallback.ts'
import { MemoryStore } from './memory.ts'
import { PrepaidStore } from './prepaid.ts'
import type { Outcome, Store } from './store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const WINDOW = { algorithm: 'fixed-window', limit: 100, period: '1m' } as const

/** A shared store and nodes that ask it, all at one time. */
function setUp(policy: Parameters<typeof planOf>[0] = WINDOW, ahead = 20, nodes = 1) {
  const clock = new FakeClock()
  const start = clock.now()
  const memory = new MemoryStore({ clock })
  const asked: { cost: number; peek: boolean }[] = []
  const returned: number[] = []
  const shared: Store<true> = {
    async: true,
    async decide(steps, peek) {
      asked.push({ cost: steps[0]!.cost, peek })
      return memory.decide(steps, peek)
    },
    async settle(charges, once) {
      returned.push(...charges.map(({ change }) => -change))
      return memory.settle(charges, once)
    },
    async reset(step) {
      memory.reset(step)
    },
    async close() {
      memory.close()
    },
  }
  const now = () => (clock.now() - start) / 1_000
  const plan = planOf(policy)
  const step = (cost = 1, more: Partial<Step> = {}): Step => ({
    ...{ plan, policy: 'p', key: 'k', cost, role: 'enforce', ahead },
    ...more,
  })
  const nodeOf = (store: Store = shared) => new PrepaidStore(store, { nodes, now })
  return { clock, memory, shared, asked, returned, now, step, nodeOf, node: nodeOf() }
}

const idle = async (clock: FakeClock, ms: number) => {
  clock.advance(ms)
  vi.advanceTimersByTime(ms)
  await settled()
}

/** Goes on when nothing is left to do at this instant. */
const settled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

describe('a lease', () => {
  it('is taken by the second request of a key, and spent without asking', async () => {
    const { node, step, asked } = setUp()
    for (let i = 0; i < 10; i++) expect((await node.decide([step()], false)).allowed).toBe(true)
    expect(asked.map(({ cost }) => cost)).toEqual([1, 20])
    expect(node.granted).toBe(8)
  })

  it('is filled up at half, with nobody waiting', async () => {
    const { node, step, asked } = setUp()
    for (let i = 0; i < 12; i++) await node.decide([step()], false)
    expect(asked.map(({ cost }) => cost)).toEqual([1, 20, 10])
    expect(node.granted).toBe(10)
  })

  it('is shared by all who ask at once', async () => {
    const { node, step, asked } = setUp()
    await node.decide([step()], false)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => node.decide([step()], false)))
    expect(asked.map(({ cost }) => cost)).toEqual([1, 20])
    expect(outcomes.map(({ figures }) => figures[0]!.remaining)).toEqual([
      98, 97, 96, 95, 94, 93, 92, 91, 90, 89,
    ])
  })

  it('grows with those who wait, beyond what lies ahead', async () => {
    const { node, step, asked } = setUp()
    await node.decide([step()], false)
    await Promise.all(Array.from({ length: 60 }, () => node.decide([step()], false)))
    expect(asked.map(({ cost }) => cost)).toEqual([1, 20, 40])
  })

  it('is smaller the less is left, and never keeps the last unit from its own node', async () => {
    const { node, step, asked } = setUp({ ...WINDOW, limit: 50 }, 20)
    const outcomes: Outcome[] = []
    for (let i = 0; i < 60; i++) outcomes.push(await node.decide([step()], false))
    expect(outcomes.map(({ allowed }) => allowed)).toEqual(Array.from({ length: 60 }, (_, i) => i < 50))
    expect(Math.max(...asked.slice(3).map(({ cost }) => cost))).toBeLessThan(15)
  })

  it('asks for the cost alone where the lease was too much', async () => {
    const { node, step, asked, nodeOf } = setUp({ ...WINDOW, limit: 10 }, 5)
    await node.decide([step()], false)
    const other = nodeOf()
    await other.decide([step(8)], false)
    expect((await node.decide([step()], false)).allowed).toBe(true)
    expect((await node.decide([step()], false)).allowed).toBe(false)
    expect(asked.map(({ cost }) => cost)).toEqual([1, 8, 4, 1, 1])
  })

  it('ends with its window', async () => {
    const { clock, node, step, memory } = setUp()
    clock.advance(59_990)
    for (let i = 0; i < 5; i++) await node.decide([step()], false)
    clock.advance(10)
    expect(node.granted).toBe(3)
    const { figures } = await node.decide([step()], false)
    expect(node.granted).toBe(3)
    expect(figures[0]!.remaining).toBe(99)
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(80)
  })

  it('is given back when idle, into the window it was taken from', async () => {
    const { clock, node, step, memory, returned } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(79)
    await idle(clock, 1_500)
    expect(returned).toEqual([18])
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(97)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is given back on close', async () => {
    const { node, step, shared, returned } = setUp()
    const close = vi.spyOn(shared, 'close')
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    await node.close()
    expect(returned).toEqual([18])
    expect(close).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is given back when the limit changes', async () => {
    const { node, step, memory, returned } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    const plan = planOf({ ...WINDOW, limit: 50 })
    const { figures } = await node.decide([step(1, { plan })], false)
    expect(returned).toEqual([18])
    expect(figures[0]!.limit).toBe(50)
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(96)
  })

  it('is forgotten on reset', async () => {
    const { node, step, memory, returned } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    await node.reset(step())
    await node.close()
    expect(returned).toEqual([])
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(100)
  })

  it('is not taken for more keys than it may', async () => {
    const { shared, now, step, asked } = setUp()
    const node = new PrepaidStore(shared, { nodes: 1, maxKeys: 1, now })
    for (const key of ['a', 'b', 'a', 'b', 'a', 'b']) await node.decide([step(1, { key })], false)
    expect(asked.map(({ cost }) => cost)).toEqual([1, 1, 20, 1, 1])
  })
})

describe('requests that no lease decides', () => {
  it.each([
    ['of several policies', (step: Step): Step[] => [step, { ...step, policy: 'q' }]],
    ['of rules without a lease', ({ ahead: _ahead, ...step }: Step): Step[] => [step]],
    ['of shadows', (step: Step): Step[] => [{ ...step, role: 'shadow' }]],
  ])('%s go straight to the store', async (_, steps) => {
    const { node, step, asked } = setUp()
    for (let i = 0; i < 5; i++) await node.decide(steps(step()), false)
    expect(asked.map(({ cost }) => cost)).toEqual([1, 1, 1, 1, 1])
  })

  it('look at the store and at what was taken ahead', async () => {
    const { node, step } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    expect((await node.decide([step(0)], false)).figures[0]!.remaining).toBe(97)
    const looked = async (cost: number) => (await node.decide([step(cost)], true)).figures[0]!
    expect(await looked(97)).toMatchObject({ allowed: true, remaining: 97 })
    expect(await looked(98)).toMatchObject({ allowed: false, remaining: 97 })
    expect(await looked(101)).toMatchObject({ allowed: false, retryAfterMs: null })
  })

  it('are answered by the store once it fails, and nothing is banked then', async () => {
    const { shared, now, step, nodeOf } = setUp()
    const decide = vi.spyOn(shared, 'decide')
    const node = nodeOf(new FallbackStore(shared, { now }))
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    decide.mockRejectedValue(new StoreError('gone'))
    for (let i = 0; i < 18; i++) expect((await node.decide([step()], false)).degraded).toBeUndefined()
    for (let i = 0; i < 30; i++) expect((await node.decide([step()], false)).degraded).toBe(true)
  })

  it('that waited for a question hear of its failure', async () => {
    const { shared, node, step } = setUp()
    await node.decide([step()], false)
    vi.spyOn(shared, 'decide').mockRejectedValueOnce(new StoreError('gone'))
    const both = await Promise.allSettled([node.decide([step()], false), node.decide([step()], false)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})

describe('a charge granted from a lease', () => {
  const limiterOf = (policy: Parameters<typeof planOf>[0]) => {
    const { node, clock, memory } = setUp(policy)
    const limiter = createLimiter({ store: node, policies: { api: { ...policy, lease: 20 } } })
    return { limiter, clock, memory }
  }

  it.each(['fixed-window', 'sliding-window-log', 'sliding-window-counter', 'token-bucket'] as const)(
    'can be refunded (%s)',
    async (algorithm) => {
      const { limiter, clock } = limiterOf({ algorithm, limit: 100, period: '1m' })
      for (let i = 0; i < 3; i++) await limiter.check('ada')
      const before = (await limiter.peek('ada')).remaining
      clock.advance(10)
      const decision = await limiter.check('ada', { cost: 4 })
      await limiter.refund(decision)
      expect((await limiter.peek('ada')).remaining).toBe(before)
    },
  )

  it('can be settled for as long as any other, however old the lease', async () => {
    const { limiter, clock } = limiterOf({ ...WINDOW, period: '1d' })
    for (let i = 0; i < 3; i++) await limiter.check('ada')
    clock.advance(120_000)
    const reservation = await limiter.reserve('ada', { cost: 5 })
    clock.advance(59_000)
    expect(await reservation.commit(9)).toBe(true)
    expect((await limiter.check('ada')).remaining).toBe(87)
  })
})

/** Nodes whose questions and answers take their time. */
function distant(shared: Store<true>, clock: FakeClock, delay: () => number) {
  const due: { at: number; run: () => void }[] = []
  const arrive = (): Promise<void> =>
    new Promise((run) => due.push({ at: clock.now() + delay() * 1_000, run }))
  const far =
    <A extends unknown[], T>(ask: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await arrive()
      const answer = await ask(...args)
      await arrive()
      return answer
    }
  return {
    store: {
      async: true as const,
      decide: far(shared.decide),
      settle: far(shared.settle),
      reset: far(shared.reset),
      close: far(shared.close),
    },
    async advance(ms: number) {
      const end = clock.now() + ms * 1_000
      for (;;) {
        await settled()
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        due.splice(due.indexOf(next), 1)
        clock.set(Math.max(next.at, clock.now()))
        next.run()
      }
      clock.set(end)
      await settled()
    },
  }
}

const arrival = fc.record({
  node: fc.nat(2),
  cost: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 9 })),
  gap: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 100, max: 2_500 }),
  ),
})
type Arrival = typeof arrival extends fc.Arbitrary<infer T> ? T : never
const arrivals = fc.array(arrival, { minLength: 20, maxLength: 70 })
const delays = fc.array(fc.nat(30), { minLength: 7, maxLength: 7 })

describe('several nodes', () => {
  const AHEAD = 8
  const LIMIT = 24

  /** When, and how much, was admitted: by the store where a request waited for it, else by this clock. */
  async function admissions(algorithm: AlgorithmName, asked: readonly Arrival[], waits: readonly number[]) {
    const { clock, shared, nodeOf, step } = setUp({ algorithm, limit: LIMIT, period: 1_000 }, AHEAD, 3)
    let turn = 0
    const { store, advance } = distant(shared, clock, () => waits[turn++ % waits.length]!)
    const nodes = [nodeOf(store), nodeOf(store), nodeOf(store)]
    const admitted: { at: number; cost: number; chargedAt: number }[] = []
    for (const { node, cost, gap } of asked) {
      const before = nodes[node]!.granted
      const answer = nodes[node]!.decide([step(cost)], false)
      const local = nodes[node]!.granted > before
      const at = clock.now()
      void answer.then((outcome) => {
        const { chargedAt = outcome.at } = outcome
        if (outcome.allowed) admitted.push({ at: local ? at : outcome.at, cost, chargedAt })
      })
      await advance(gap)
      vi.advanceTimersByTime(gap)
    }
    await advance(5_000)
    const granted = nodes.reduce((sum, node) => sum + node.granted, 0)
    return { admitted: admitted.sort((a, b) => a.at - b.at), granted }
  }

  it('admit in no window more than its limit', async () => {
    let granted = 0
    await fc.assert(
      fc.asyncProperty(arrivals, delays, async (asked, waits) => {
        const result = await admissions('fixed-window', asked, waits)
        const windows = new Map<number, number>()
        for (const { at, cost, chargedAt } of result.admitted) {
          const window = Math.floor(at / 1_000_000)
          expect(Math.floor(chargedAt / 1_000_000)).toBe(window)
          windows.set(window, (windows.get(window) ?? 0) + cost)
        }
        expect(Math.max(0, ...windows.values())).toBeLessThanOrEqual(LIMIT)
        granted += result.granted
      }),
      { numRuns: 150 },
    )
    expect(granted).toBeGreaterThan(300)
  })

  it.each([
    ['token-bucket', (ms: number) => LIMIT + Math.floor((ms * LIMIT) / 1_000)],
    ['gcra', (ms: number) => LIMIT + Math.floor((ms * LIMIT) / 1_000)],
    ['sliding-window-log', (ms: number) => LIMIT * (Math.floor(ms / 1_000) + 1)],
  ] as const)('admit in any interval at most nodes · (lease − 1) beyond %s', async (algorithm, bound) => {
    let granted = 0
    await fc.assert(
      fc.asyncProperty(arrivals, delays, async (asked, waits) => {
        const { admitted, ...result } = await admissions(algorithm, asked, waits)
        for (let from = 0; from < admitted.length; from++) {
          let sum = 0
          for (let to = from; to < admitted.length; to++) {
            sum += admitted[to]!.cost
            const ms = (admitted[to]!.at - admitted[from]!.at) / 1_000
            expect(sum).toBeLessThanOrEqual(bound(ms) + 3 * (AHEAD - 1))
          }
        }
        granted += result.granted
      }),
      { numRuns: 100 },
    )
    expect(granted).toBeGreaterThan(100)
  })
})

describe('one node alone', () => {
  const told = ({ figures }: Outcome) => {
    const { limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, delayMs } = figures[0]!
    return { limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, delayMs }
  }

  it('changes no figure of any fixed window', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, async (asked) => {
        const { clock, node, step } = setUp({ algorithm: 'fixed-window', limit: 40, period: 1_000 }, 8)
        const bare = new MemoryStore({ clock })
        for (const { node: verb, cost, gap } of asked) {
          const expected = bare.decide([step(cost)], verb === 0)
          const outcome = await node.decide([step(cost)], verb === 0)
          expect([outcome.allowed, told(outcome)]).toEqual([expected.allowed, told(expected)])
          await idle(clock, gap)
        }
      }),
      { numRuns: 100 },
    )
  })

  it.each(['token-bucket', 'gcra', 'sliding-window-log', 'sliding-window-counter'] as const)(
    'never tells too short a wait (%s)',
    async (algorithm) => {
      await fc.assert(
        fc.asyncProperty(arrivals, fc.boolean(), async (asked, whole) => {
          const { clock, node, step } = setUp({ algorithm, limit: 40, period: 1_000 }, 8)
          for (const { cost, gap } of asked) {
            await node.decide([step(cost)], false)
            await idle(clock, gap)
          }
          const { allowed, figures } = await node.decide([step()], false)
          const { remaining, retryAfterMs, moreAfterMs, resetAfterMs } = figures[0]!
          await idle(clock, (whole ? resetAfterMs : allowed ? moreAfterMs : retryAfterMs)!)
          const later = await node.decide([step(1)], true)
          expect(later.allowed).toBe(true)
          expect(later.figures[0]!.remaining).toBeGreaterThanOrEqual(whole ? 40 : Math.min(40, remaining + 1))
        }),
        { numRuns: 100 },
      )
    },
  )
})
