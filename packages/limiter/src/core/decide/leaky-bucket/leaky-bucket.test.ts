import { algorithmSuite, bucketFormula, policiesOf, replay, stateUnderTest } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../algorithms.ts'

algorithmSuite(
  { describe, it },
  { name: 'leaky-bucket', policies: policiesOf('leaky-bucket'), formula: bucketFormula },
)

describe('a leaky bucket', () => {
  it('of depth 10, 1 per second: ten at once get delays of 0, 1 … 9 s, the eleventh is refused with 1 s', () => {
    const policy: Policy = { algorithm: 'leaky-bucket', limit: 1, period: '1s', burst: 10 }
    expect(
      replay(
        policy,
        Array.from({ length: 11 }, () => [0]),
      ),
    ).toEqual([
      '9 left',
      ...[8, 7, 6, 5, 4, 3, 2, 1, 0].map((left) => `${left} left, in ${(9 - left) * 1_000} ms`),
      'wait 1000 ms',
    ])
  })

  it('spaces ten at once evenly (T38)', () => {
    const policy: Policy = { algorithm: 'leaky-bucket', limit: 10, period: '2s' }
    const delays = replay(
      policy,
      Array.from({ length: 10 }, () => [0]),
    ).map((told) => told.split(', ')[1])
    expect(delays).toEqual([
      undefined,
      ...[200, 400, 600, 800, 1_000, 1_200, 1_400, 1_600, 1_800].map((ms) => `in ${ms} ms`),
    ])
  })

  it('saves up nothing while idle (FB-044)', () => {
    const policy: Policy = { algorithm: 'leaky-bucket', limit: 1, period: '1s', burst: 24 }
    const told = replay(policy, [[0], ...Array.from({ length: 24 }, () => [2] as const)])
    expect(told.slice(0, 4)).toEqual(['23 left', '23 left', '22 left, in 1000 ms', '21 left, in 2000 ms'])
    expect(told.at(-1)).toBe('0 left, in 23000 ms')
  })

  it('leaks between hits that come faster than it leaks (FB-013)', () => {
    const policy: Policy = { algorithm: 'leaky-bucket', limit: 10, period: '30s' }
    const left = replay(
      policy,
      Array.from({ length: 11 }, (_, second) => [second]),
    ).map((told) => Number.parseInt(told, 10))
    expect(left).toEqual([9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2])
  })

  it('OF-02: gives the place of a caller who leaves to the next, with a turn of its own', () => {
    const state = stateUnderTest(planOf({ algorithm: 'leaky-bucket', limit: 1, period: '1s', burst: 3 }))
    for (const chargeId of [1, 2, 3]) state.decide(0, 1, chargeId)
    expect(state.decide(0, 1, 4).allowed).toBe(false)
    state.settle(0, -1, 0, 2)
    expect(state.decide(0, 1, 4)).toMatchObject({ allowed: true, delayMs: 3_000 })
  })
})
