import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { receiptOf } from './core/decide/decision.ts'
import { createLimiter } from './limiter.ts'
import { MemoryStore } from './stores/memory.ts'
import type { Store } from './stores/store.ts'
import { FakeClock } from './testing.ts'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
const POLICIES = variantsOf().map(({ policy }) => policy)

const operation = fc.record({
  verb: fc.constantFrom('check', 'check', 'check', 'allow', 'peek', 'refund', 'reset'),
  key: fc.constantFrom('a', 'b', '\0a'),
  cost: fc.constantFrom(undefined, 1, 1, 0, 2, 3, 7),
  forward: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -900, max: 3_000 })),
})

/** A store without the forms that save objects. */
function general(store: MemoryStore): Store<false> {
  return {
    async: false,
    decide: (steps, peek) => store.decide(steps, peek),
    settle: (charges, once) => store.settle(charges, once),
    reset: (state) => store.reset(state),
    block: (state, ticks) => store.block(state, ticks),
    close: () => store.close(),
  }
}

it('asks a store that overrides decide, whatever short forms it inherits', () => {
  class Closed extends MemoryStore {
    override decide(...asked: Parameters<MemoryStore['decide']>): ReturnType<MemoryStore['decide']> {
      return { ...super.decide(...asked), allowed: false }
    }
  }
  const policies = { p: { algorithm: 'gcra', limit: 5, period: '1s' } } as const
  const limiter = createLimiter({ policies, store: new Closed() })
  expect([limiter.check('a').allowed, limiter.allow('a')]).toEqual([false, false])
})

describe(`a limiter whose store has short forms (SLUICE_SEED=${SEED})`, () => {
  it.each([1, 2, 3])('decides as one whose store has none, with %i policies', (count) => {
    const policy = fc.record({
      base: fc.constantFrom(...POLICIES),
      limit: fc.integer({ min: 0, max: 8 }),
      period: fc.constantFrom('2s', 1, '1h'),
    })
    const property = fc.property(
      fc.array(policy, { minLength: count, maxLength: count }),
      fc.array(operation, { minLength: 10, maxLength: 60 }),
      (given, operations) => {
        const policies = Object.fromEntries(
          given.map(({ base, limit, period }, i) => [`p${i}`, { ...base, limit, period }]),
        )
        const clock = new FakeClock()
        const short = createLimiter({ policies, store: new MemoryStore({ clock }) })
        const long = createLimiter({ policies, store: general(new MemoryStore({ clock })) })
        let last = [short.peek('a'), long.peek('a')] as const
        for (const { verb, key, cost, forward } of operations) {
          clock.advance(forward)
          const options = cost === undefined ? undefined : { cost }
          if (verb === 'refund') {
            short.refund(last[0])
            long.refund(last[1])
          } else if (verb === 'reset') for (const limiter of [short, long]) limiter.reset(key)
          else if (verb === 'allow') expect(short.allow(key, options)).toBe(long.allow(key, options))
          else {
            last = [short[verb](key, options), long[verb](key, options)]
            expect(JSON.stringify(last[0])).toBe(JSON.stringify(last[1]))
            const [own, other] = last.map((decision) => receiptOf(decision)!)
            const steps = own!.steps.map((step, i) => ({ ...step, chargeId: other!.steps[i]!.chargeId }))
            expect({ ...own, steps: JSON.stringify(steps), binding: undefined }).toEqual({
              ...other,
              steps: JSON.stringify(other!.steps),
              binding: undefined,
            })
          }
        }
      },
    )
    fc.assert(property, { numRuns: 400, seed: SEED })
  })
})
