import { describe, expect, it } from 'vitest'
import { aheadOf, checkLease } from './ahead.ts'
import { planOf } from './algorithms.ts'

const bucket = { algorithm: 'token-bucket', role: 'enforce', guarded: false } as const

describe('a lease', () => {
  it.each([
    [1, bucket],
    [2.5, bucket],
    [Number.NaN, bucket],
    [20, { ...bucket, algorithm: 'concurrency' }],
    [20, { ...bucket, algorithm: 'leaky-bucket' }],
    [20, { ...bucket, role: 'shadow' }],
    [20, { ...bucket, role: 'quota' }],
    [20, { ...bucket, guarded: true }],
    [20, { ...bucket, cost: 20 }],
  ] as const)('of %s is refused for %o', (lease, leased) => {
    expect(() => checkLease(lease, leased)).toThrow(/lease/)
  })

  it('may be two units, for requests of one', () => {
    expect(() => checkLease(2, bucket)).not.toThrow()
  })

  it.each([
    [20, 100, 20],
    [20, 10, 10],
    [20, 1, undefined],
    [20, 0, undefined],
    [undefined, 100, undefined],
  ])('of %s under a limit of %s is %s', (lease, limit, ahead) => {
    expect(aheadOf(lease, planOf({ algorithm: 'gcra', limit, period: '1s' }))).toBe(ahead)
  })
})
