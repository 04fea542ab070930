import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ceilDiv, floorDiv, MAX, remainder, unitFor } from './integers.ts'

const whole = fc.oneof(
  fc.nat(1_000),
  fc.maxSafeNat(),
  fc.nat(1_000).map((n) => MAX - n),
)
/** A divisor, and a dividend at or next to one of its multiples. */
const division = fc.tuple(whole, whole, fc.integer({ min: -1, max: 1 })).map(([least, times, off]) => {
  const b = Math.max(1, least)
  const a = Math.floor(MAX / b) % Math.max(1, times)
  return [Math.min(MAX, Math.max(0, a * b + off)), b] as const
})

describe('whole division', () => {
  it('is exact up to 2^53−1, also next to a multiple', () => {
    fc.assert(
      fc.property(division, ([a, b]) => {
        expect(BigInt(floorDiv(a, b))).toBe(BigInt(a) / BigInt(b))
        expect(BigInt(remainder(a, b))).toBe(BigInt(a) % BigInt(b))
        expect(BigInt(ceilDiv(a, b))).toBe((BigInt(a) + BigInt(b) - 1n) / BigInt(b))
      }),
      { numRuns: 10_000 },
    )
  })
})

describe('the unit of a plan', () => {
  it('is the finest in which the product stays below 2^53', () => {
    const day = 86_400_000_000
    expect([104_249, 104_250, 104_249_991, 104_249_992].map((n) => unitFor(n, day))).toEqual([
      1, 1_000, 1_000, 1_000_000,
    ])
  })

  it('is never one in which the period is not whole', () => {
    expect(() => unitFor(MAX, 1_500_000)).toThrow('cannot be kept exactly')
    expect(() => unitFor(MAX, 2_000_000)).toThrow('passes 2^53−1 even in seconds')
    expect(unitFor(MAX, 1_000_000)).toBe(1_000_000)
  })
})
