import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AlgorithmName } from '../../core/decide/algorithms.ts'
import { MemoryStore } from '../memory.ts'
import type { Outcome } from '../store.ts'
import { distant, idle, setUp } from './nodes.test-support.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

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
  ] as const)('admit in any interval at most nodes · (prefetch − 1) beyond %s', async (algorithm, bound) => {
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
      { numRuns: 50 },
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
          expect(later.figures[0]!.remaining).toBeGreaterThanOrEqual(
            whole ? 40 : Math.min(40, remaining! + 1),
          )
        }),
        { numRuns: 30 },
      )
    },
  )
})
