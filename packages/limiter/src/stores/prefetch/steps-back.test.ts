import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { chargedAt } from '../../core/decide/outcome.ts'
import { FakeClock, stepFor } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import { PrefetchStore } from '../prefetch.ts'

/** Walks of each algorithm; SLUICE_WALKS asks for more. */
const WALKS = Number(process.env.SLUICE_WALKS ?? 40)
const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const NODES = 2
const LIMIT = 60
const HOUR = 3_600_000_000

const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ node: fc.nat(NODES - 1), cost: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.integer({ min: -HOUR, max: HOUR }) }) },
  { weight: 2, arbitrary: fc.record({ back: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ idle: fc.integer({ min: 1, max: 2_000 }) }) },
)

describe(`units taken ahead, while the store's clock steps to and fro (SLUICE_SEED=${SEED})`, () => {
  it.each(variantsOf((name) => name !== 'concurrency' && name !== 'leaky-bucket'))(
    'are never minted, and all that is left is given back: $name',
    async ({ policy }) => {
      // So long that nothing flows back during a walk, and no window ends.
      const plan = planOf({ ...policy, limit: LIMIT, period: '3650d' })
      await fc.assert(
        fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), async (acts) => {
          const clock = new FakeClock()
          const memory = new MemoryStore({ clock })
          let now = 0
          const nodes = Array.from(
            { length: NODES },
            () => new PrefetchStore(memory, { nodes: NODES, now: () => now }),
          )
          const step = (cost: number) => stepFor(plan, { cost, prefetch: 10 })
          const given: { cost: number; at: number; node: PrefetchStore }[] = []
          let used = 0
          for (const does of acts) {
            if ('cost' in does) {
              const { cost } = does
              const node = nodes[does.node]!
              const outcome = await node.decide([step(cost)], false)
              if (!outcome.allowed) continue
              used += cost
              given.push({ cost, at: chargedAt(outcome, 0), node })
            } else if ('step' in does) clock.advance(does.step / 1_000)
            else if ('idle' in does) {
              now += does.idle
              await vi.advanceTimersByTimeAsync(does.idle)
            } else if (given.length > 0) {
              const [{ cost, at, node }] = given.splice(does.back % given.length, 1) as [(typeof given)[0]]
              expect(await node.settle([{ step: step(cost), at, change: -cost }])).toBe(true)
              used -= cost
            }
            expect(used).toBeLessThanOrEqual(plan.capacity)
          }
          await Promise.all(nodes.map((node) => node.release()))
          const left = memory.decide([step(0)], true).figures[0]!.remaining
          // A log gives back at the instant of the charge. Units of two grants count as the older's, which may hold fewer.
          if (policy.algorithm === 'sliding-window-log')
            expect(left).toBeLessThanOrEqual(plan.capacity - used)
          else expect(left).toBe(plan.capacity - used)
        }),
        { numRuns: WALKS, seed: SEED, endOnFailure: true },
      )
    },
  )
})
