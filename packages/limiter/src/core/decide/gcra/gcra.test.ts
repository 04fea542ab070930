import { algorithmSuite, gcraFormula, policiesOf, stateUnderTest, workedExample } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../algorithms.ts'

algorithmSuite({ describe, it }, { name: 'gcra', policies: policiesOf('gcra'), formula: gcraFormula })

describe('gcra', () => {
  it('gives the figures of a token bucket, to the microsecond', () => {
    const traffic = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 3_000_000 }), fc.integer({ min: 0, max: 9 })),
      {
        maxLength: 30,
      },
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 8 }),
        traffic,
        (limit, burst, steps) => {
          const [gcra, bucket] = (['gcra', 'token-bucket'] as const).map((algorithm) =>
            stateUnderTest(planOf({ algorithm, limit, period: '7s', burst })),
          )
          let now = 0
          for (const [idle, cost] of steps) {
            now += idle
            expect(gcra!.decide(now, cost, 1)).toEqual(bucket!.decide(now, cost, 1))
          }
        },
      ),
    )
  })

  it('is exact where the limit does not divide the period', () => {
    const policy: Policy = { algorithm: 'gcra', limit: 3, period: '1s', burst: 1 }
    workedExample(policy, [
      [0, 1, '0 left'],
      [0, 1, 'wait 333.334 ms'],
      [0.333_333, 1, 'wait 0.001 ms'],
      [0.333_334, 1, '0 left'],
      [0.666_667, 1, 'wait 0.001 ms'],
      [1, 1, '0 left'],
    ])
  })

  it('counts from the first call, however little of a second it is (FB-053)', () => {
    const policy: Policy = { algorithm: 'gcra', limit: 1_000, period: '60s', burst: 1_001 }
    workedExample(policy, [
      [0, 1, '1000 left'],
      [0, 1, '999 left'],
      [0, 1, '998 left'],
    ])
  })

  it('looks at no cost, and writes nothing (FB-040)', () => {
    const state = stateUnderTest(planOf({ algorithm: 'gcra', limit: 1, period: '1s' }))
    state.decide(0, 1, 1)
    const before = state.cells.slice()
    expect(state.decide(400_000, 0, 1)).toMatchObject({ allowed: true, remaining: 0, moreAfterMs: 600 })
    expect(state.cells).toEqual(before)
  })

  it('lets an idle time bring no more than the burst (FB-044, T45)', () => {
    const policy: Policy = { algorithm: 'gcra', limit: 1, period: '1s', burst: 2 }
    workedExample(policy, [
      [0, 1, '1 left'],
      [1_000, 1, '1 left'],
      [1_000, 1, '0 left'],
      [1_000, 1, 'wait 1000 ms'],
      [1_001, 1, '0 left'],
      [1_001, 1, 'wait 1000 ms'],
    ])
  })

  it('spaces five in a row at one a second four seconds apart (FB-022)', () => {
    const policy: Policy = { algorithm: 'gcra', limit: 1, period: '1s', burst: 1 }
    workedExample(policy, [
      [0, 1, '0 left'],
      [0, 1, 'wait 1000 ms'],
      [1, 1, '0 left'],
      [1, 1, 'wait 1000 ms'],
      [2, 1, '0 left'],
      [2, 1, 'wait 1000 ms'],
      [3, 1, '0 left'],
      [3.999_999, 1, 'wait 0.001 ms'],
      [4, 1, '0 left'],
    ])
  })
})
