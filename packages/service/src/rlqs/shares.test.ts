import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharesOf } from './shares.ts'

describe('shares', () => {
  it.each<[number, number[], number, number[]]>([
    [100, [80, 20], 0.1, [80, 20]],
    [100, [1, 1, 1], 0.1, [34, 33, 33]],
    [100, [0, 0], 0.1, [50, 50]],
    [100, [1, 0], 0.1, [95, 5]],
    [100, [1, 0], 0, [100, 0]],
    [100, [5, 1, 0], 1, [34, 33, 33]],
    [1, [1, 1, 1], 0.1, [1, 0, 0]],
    [0, [1, 2], 0.1, [0, 0]],
    [7, [], 0.1, []],
  ])('of %d by %j, with at least %d of an even share, are %j', (total, weights, least, shares) => {
    expect(sharesOf(total, weights, least)).toEqual(shares)
  })

  it('are whole, add up to the total, and follow the weights', () => {
    const weight = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e12, noNaN: true }))
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        fc.array(weight, { minLength: 1, maxLength: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (total, weights, least) => {
          const shares = sharesOf(total, weights, least)
          expect(shares.every((share) => Number.isSafeInteger(share) && share >= 0)).toBe(true)
          expect(shares.reduce((sum, share) => sum + share, 0)).toBe(total)
          const smallest = Math.floor((total * least) / weights.length)
          expect(Math.min(...shares)).toBeGreaterThanOrEqual(smallest - 1)
          weights.forEach((weight, i) => {
            weights.forEach((other, j) => {
              if (weight >= other) expect(shares[i]!).toBeGreaterThanOrEqual(shares[j]! - 1)
            })
          })
        },
      ),
    )
  })
})
