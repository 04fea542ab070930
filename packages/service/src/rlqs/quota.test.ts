import { planOf } from '@sluice/limiter/algorithms'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quotaOf, type RlqsQuota, rescaled } from './quota.ts'

function quota(limit: number, period: string | number, burst?: number, nodes = 1): RlqsQuota | undefined {
  const policy = { algorithm: 'token-bucket' as const, limit, period, ...(burst !== undefined && { burst }) }
  return quotaOf(planOf(policy), nodes)
}

describe('the quota of a limit', () => {
  it.each<[string, RlqsQuota | undefined, RlqsQuota | undefined]>([
    ['100/second', quota(100, '1s'), { tokens: 1_000, seconds: 10, burst: 100 }],
    ['10/100ms', quota(10, '100ms'), { tokens: 1_000, seconds: 10, burst: 10 }],
    ['5/minute', quota(5, '1m', 2), { tokens: 1_000, seconds: 12_000, burst: 2 }],
    ['2000/second', quota(2_000, '1s'), { tokens: 2_000, seconds: 1, burst: 2_000 }],
    ['100/second at two services', quota(100, '1s', 9, 2), { tokens: 1_000, seconds: 20, burst: 4 }],
    ['0/day', quota(0, '1d', 5), undefined],
    ['a burst of 1 at two services', quota(5, '1s', 1, 2), undefined],
    ['10^12/second', quota(1e12, '1s'), { tokens: 2 ** 32 - 1, seconds: 1, burst: 2 ** 32 - 1 }],
  ])('of %s is counted in whole seconds and in enough tokens', (_, found, expected) => {
    expect(found).toEqual(expected)
  })

  it('is never above the limit, and below it by less than a thousandth where 32 bits are enough', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 1e9 })
          .chain((limit) =>
            fc.tuple(
              fc.constant(limit),
              fc.integer({ min: 1, max: Math.max(1_000, Math.floor(1e12 / limit)) }),
            ),
          ),
        fc.integer({ min: 1, max: 9 }),
        ([limit, ms], nodes) => {
          const { tokens, seconds } = quota(limit, ms, 1_000, nodes)!
          const given = BigInt(tokens) * BigInt(ms) * BigInt(nodes)
          const allowed = BigInt(limit) * BigInt(seconds) * 1_000n
          expect(given <= allowed).toBe(true)
          if (tokens < 2 ** 32 - 1) expect(given * 1_000n >= allowed * 999n).toBe(true)
        },
      ),
    )
  })

  it('in another time is rounded up', () => {
    expect(rescaled(5, { tokens: 10, seconds: 3, burst: 1 }, { tokens: 10, seconds: 10, burst: 1 })).toBe(17)
  })
})
