import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Decision, receiptOf } from './core/decide/decision.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import type { Reservation } from './reservation.ts'
import { MemoryStore } from './stores/memory.ts'
import type { Store } from './stores/store.ts'
import { MapStore } from './stores/trials/map-store.test-support.ts'
import { FakeClock } from './testing.ts'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
const POLICIES = variantsOf().map(({ policy }) => policy)

const VERBS = ['check', 'peek', 'limitOrThrow', 'takeUpTo', 'reserve'] as const
type Limit = Limiter<string, false, never>

const operation = fc.record({
  verb: fc.constantFrom(...VERBS, 'check', 'check', 'allow', 'refund', 'cancel', 'reset'),
  key: fc.constantFrom('a', 'b', '\0a'),
  cost: fc.constantFrom(undefined, 1, 1, 0, 2, 3, 7),
  forward: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -900, max: 3_000 })),
})

/** The decision of a verb, and the reservation if it is one. */
function asked(
  limiter: Limit,
  verb: (typeof VERBS)[number],
  key: string,
  cost: number | undefined,
): { readonly decision: Decision; readonly reservation?: Reservation<false> } {
  const options = cost === undefined ? undefined : { cost }
  if (verb === 'takeUpTo') return limiter.takeUpTo(key, cost ?? 1)
  if (verb === 'reserve') {
    const reservation = limiter.reserve(key, options)
    return { decision: reservation.decision, reservation }
  }
  try {
    return { decision: limiter[verb](key, options) }
  } catch (error) {
    if (error instanceof LimitExceeded) return { decision: error.decision }
    throw error
  }
}

/** A store without the forms that save objects. */
function general(store: Store<false>): Store<false> {
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
      period: fc.constantFrom('2s', 1, '1h', '700d'),
      shadow: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
      soft: fc.constantFrom(undefined, undefined, 0.5),
      onLimit: fc.constantFrom('deny' as const, 'deny' as const, 'deny' as const, 'delay' as const),
    })
    const property = fc.property(
      fc.array(policy, { minLength: count, maxLength: count }),
      fc.array(operation, { minLength: 10, maxLength: 60 }),
      (given, operations) => {
        const policies = Object.fromEntries(
          given.map(({ base, soft, onLimit, ...rest }, i) => {
            const delays = onLimit === 'delay' && soft !== undefined && base.algorithm !== 'concurrency'
            return [
              `p${i}`,
              { ...base, ...rest, ...(soft && { soft }), ...(delays && { onLimit: 'delay' as const }) },
            ]
          }),
        )
        const clock = new FakeClock()
        const short = createLimiter({ policies, store: new MemoryStore({ clock }) })
        const long = createLimiter({ policies, store: general(new MapStore(clock)) })
        let last = [asked(short, 'check', 'a', 1), asked(long, 'check', 'a', 1)] as const
        for (const { verb, key, cost, forward } of operations) {
          clock.advance(forward)
          const options = cost === undefined ? undefined : { cost }
          if (verb === 'refund') {
            short.refund(last[0].decision)
            long.refund(last[1].decision)
          } else if (verb === 'cancel')
            expect(last[0].reservation?.cancel()).toBe(last[1].reservation?.cancel())
          else if (verb === 'reset') for (const limiter of [short, long]) limiter.reset(key)
          else if (verb === 'allow') expect(short.allow(key, options)).toBe(long.allow(key, options))
          else {
            last = [asked(short, verb, key, cost), asked(long, verb, key, cost)]
            expect(JSON.stringify(last[0].decision)).toBe(JSON.stringify(last[1].decision))
            const [own, other] = last.map(({ decision }) => receiptOf(decision)!)
            const steps = own!.steps.map((step, i) => ({ ...step, chargeId: other!.steps[i]!.chargeId }))
            const place = (receipt: typeof own): number => receipt!.steps.indexOf(receipt!.binding!)
            expect(place(own)).toBe(place(other))
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
