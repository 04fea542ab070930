import { describe, expect, it } from 'vitest'
import { assignErrors, unassignable } from './assign.ts'
import { compile } from './compile.ts'
import { at, rateLimit, under } from './descriptor.samples.ts'
import type { Limit } from './domain.ts'
import { limit } from './limit.samples.ts'
import { matchLimit } from './match.ts'

const ASSIGNED = { name: 'a', key: ['user'], algorithm: 'token-bucket', assign: 'rlqs' } as const

function compiled(own: Partial<Limit>) {
  return compile([{ name: 'edge', limits: [limit({ ...ASSIGNED, ...own })], descriptors: [] }])
}

describe('a limit that is assigned', () => {
  it('counts each request as 1, and by parts of a key that proxies can send', () => {
    expect(assignErrors({ assign: 'rlqs', cost: 1, key: ['user', 'ip'] })).toEqual([])
    expect(
      assignErrors({ assign: 'rlqs', cost: 2, key: ['user', 'cookie:id'] }).map(({ path }) => path),
    ).toEqual([['cost'], ['key', 1]])
    expect(assignErrors({ cost: 2, key: ['cookie:id'] })).toEqual([])
  })

  it.each<[Partial<Limit>, string]>([
    [{ cost: 2 }, 'a limit that is assigned counts every request as 1'],
    [{ key: ['cookie:id'] }, 'cannot be counted by cookie:id'],
    [{ algorithm: 'gcra' }, 'assigning is not supported by gcra'],
    [{ mode: 'shadow' }, 'this one is of role shadow'],
  ])('is refused when it is compiled with %j', (own, why) => {
    expect(() => compiled(own)).toThrow(why)
  })

  it('says so on its rule, and others do not', () => {
    const [assigned] = compiled({}).domains.get('edge')!.limits
    expect(assigned!.rule.assign).toBe('rlqs')
    const [other] = compile([{ name: 'edge', limits: [limit({ name: 'a' })], descriptors: [] }]).domains.get(
      'edge',
    )!.limits
    expect(Object.hasOwn(other!.rule, 'assign')).toBe(false)
  })

  it('of descriptors has keys that differ and are no patterns', () => {
    const own = rateLimit(5, 'second', { algorithm: 'token-bucket', assign: 'rlqs' })
    const tree = (...descriptors: ReturnType<typeof at>[]) =>
      compile([{ name: 'edge', limits: [], descriptors }])
    expect(() => tree(under('a=x', at('b', own)))).not.toThrow()
    expect(() => tree(under('a*', at('b', own)))).toThrow('needs keys without *, and a* has one')
    expect(() => tree(under('a', at('a', own)))).toThrow('needs keys that differ, and a is there twice')
    expect(unassignable(['a', 'b'])).toBeUndefined()
  })
})

describe('what one limit asks of a request', () => {
  const rules = compile([
    {
      name: 'edge',
      limits: [
        limit({ name: 'a', key: ['user'], when: { path: ['/x'] }, exempt: ['root'] }),
        limit({ name: 'b', key: ['ip'], replaces: ['a'] }),
      ],
      descriptors: [],
    },
  ])
  const [a, b] = rules.domains.get('edge')!.limits

  it('is asked whatever its conditions are, and what replaces it', () => {
    expect(matchLimit(rules, a!, { attributes: { user: 'ada' } })).toMatchObject({ step: { key: 'ada' } })
  })

  it('is nothing where it does not apply, or the request cannot be read', () => {
    expect(matchLimit(rules, a!, {})).toEqual({ skipped: 'missing' })
    expect(matchLimit(rules, a!, { attributes: { user: 'root' } })).toEqual({ skipped: 'exempt' })
    expect(matchLimit(rules, b!, { ip: '192.0.2.999' })).toHaveProperty('problem')
  })
})
