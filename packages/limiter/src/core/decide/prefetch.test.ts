import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { type Policy, planOf } from './algorithms.ts'
import { checkPrefetch, prefetchOf } from './prefetch.ts'
import type { Role } from './role.ts'

/** What decides whether units can be taken ahead. */
interface Rule {
  readonly algorithm: Policy['algorithm']
  readonly role: Role
  readonly blocks: boolean
  readonly cost?: number
}

const bucket: Rule = { algorithm: 'token-bucket', role: 'enforce', blocks: false }

function check(units: number, { algorithm, role, blocks, cost }: Rule): void {
  checkPrefetch(units, planOf({ algorithm, limit: 100, period: '1s' }), role, blocks, cost)
}

describe('prefetch', () => {
  it.each<[number, Rule]>([
    [1, bucket],
    [2.5, bucket],
    [Number.NaN, bucket],
    [20, { ...bucket, algorithm: 'concurrency' }],
    [20, { ...bucket, algorithm: 'leaky-bucket' }],
    [20, { ...bucket, role: 'shadow' }],
    [20, { ...bucket, role: 'deprioritize' }],
    [20, { ...bucket, role: 'quota' }],
    [20, { ...bucket, blocks: true }],
    [20, { ...bucket, cost: 20 }],
  ])('of %s is refused for %o', (units, rule) => {
    expect(() => check(units, rule)).toThrow(/prefetch|tak(ing|en) (units )?ahead/)
    expect(() => check(units, rule)).toThrow(ConfigError)
    expect(() => check(units, rule)).toThrow(expect.objectContaining({ path: ['prefetch'] }))
  })

  it('may be two units, for requests of one', () => {
    expect(() => check(2, bucket)).not.toThrow()
  })

  it.each([
    [20, 100, 20],
    [20, 10, 10],
    [20, 1, undefined],
    [20, 0, undefined],
    [undefined, 100, undefined],
  ])('of %s under a limit of %s is %s', (units, limit, most) => {
    expect(prefetchOf(units, planOf({ algorithm: 'gcra', limit, period: '1s' }))).toBe(most)
  })
})
