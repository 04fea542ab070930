import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jittered } from './jitter.ts'

describe('jitter', () => {
  it('lengthens by less than its share, and never shortens', () => {
    const wait = fc.double({ min: 0, max: 1e12, noNaN: true })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(wait, share, fc.string(), fc.integer(), (waitMs, share, key, seed) => {
        const longer = jittered(waitMs, { share, key, seed })
        expect(longer).toBeGreaterThanOrEqual(waitMs)
        expect(longer).toBeLessThanOrEqual(waitMs * (1 + share))
      }),
    )
  })

  it('depends on the key and the seed, and on nothing else', () => {
    const of = (key: string, seed: number) => jittered(1_000, { share: 0.3, key, seed })
    expect(of('alice', 1)).toBe(of('alice', 1))
    expect(of('alice', 1)).not.toBe(of('bob', 1))
    expect(of('alice', 1)).not.toBe(of('alice', 2))
  })

  it('spreads neighbouring keys evenly', () => {
    const tenths = new Array<number>(10).fill(0)
    for (let i = 0; i < 10_000; i++) {
      tenths[Math.floor((jittered(1, { share: 1, key: `ip:192.0.2.${i}`, seed: 7 }) - 1) * 10)]! += 1
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150) // five standard deviations
  })

  it('is off without a share', () => {
    expect(jittered(1_000, { share: 0, key: 'alice', seed: 1 })).toBe(1_000)
    expect(jittered(1_000, { share: Number.NaN, key: 'alice', seed: 1 })).toBe(1_000)
  })
})
