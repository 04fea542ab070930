import { algorithms, type Policy, planOf } from '@sluice/limiter/algorithms'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lawKindOf, lawOf } from './laws.ts'

describe.each(Object.values(algorithms))('the law of $name', (algorithm) => {
  it('admits what the algorithm itself does', () => {
    const gap = fc.oneof(fc.constant(0), fc.nat(50), fc.nat(2_000_000), fc.nat(200_000_000))
    const cost = fc.oneof(fc.constant(1), fc.nat(9))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(gap, cost), { maxLength: 60 }),
        fc.nat(6),
        fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
        fc.constantFrom(1_000, 10_000, 60_000, 3_600_000, 7),
        fc.nat(1e12),
        (gaps, limit, burst, period, start) => {
          const policy = {
            algorithm: algorithm.name,
            limit,
            period,
            ...('burst' in algorithm.options && burst && { burst }),
          }
          const plan = planOf(policy as Policy)
          const known = lawOf(lawKindOf(algorithm, false), plan)
          const own = lawOf(`own ${algorithm.name}`, plan)
          for (let round = 0; round < 2; round++) {
            known.start()
            own.start()
            let at = start
            for (const [more, units] of gaps) {
              at += more
              expect(known.admits(at, -1, units)).toBe(own.admits(at, -1, units))
            }
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

it('a slot that is held is free when its request ends, and when its time is over', () => {
  const plan = planOf({ algorithm: 'concurrency', limit: 1, period: '1m' })
  const law = lawOf(lawKindOf(algorithms.concurrency, true), plan)
  law.start()
  expect(law.admits(0, 5, 1)).toBe(true)
  expect(law.admits(4, 5, 1)).toBe(false)
  expect(law.admits(5, -1, 1)).toBe(true)
  expect(law.admits(60_000_004, 5, 1)).toBe(false)
  expect(law.admits(60_000_005, 5, 1)).toBe(true)
})

it('a request of several units holds as many slots, and releases all of them', () => {
  const plan = planOf({ algorithm: 'concurrency', limit: 4, period: '1m' })
  const law = lawOf(lawKindOf(algorithms.concurrency, true), plan)
  law.start()
  expect(law.admits(0, 5, 3)).toBe(true)
  expect(law.admits(1, 5, 2)).toBe(false)
  expect(law.admits(2, 9, 1)).toBe(true)
  expect(law.admits(5, 5, 3)).toBe(true)
  expect(law.admits(6, 5, 0)).toBe(true)
})
