import { describe, expect, it } from 'vitest'
import type { Step } from '../decide/step.ts'
import type { Limit } from './domain.ts'
import { key, match } from './limit.samples.ts'

describe('the key', () => {
  it('FB-064: is one for all spellings of a path', () => {
    const keys = ['/lang', '/LANG', '/lang/', '//lang', '/%6Cang?x'].map((path) => key(['path'], { path }))
    expect(new Set(keys)).toEqual(new Set(['/lang']))
  })

  it('FB-058, FB-059 and T61: is one for all addresses of one client', () => {
    expect(key(['ip'], { ip: '::ffff:1.2.3.4' })).toBe('1.2.3.4')
    expect(key(['ip'], { ip: '1.2.3.4:5678' })).toBe('1.2.3.4')
    expect(key(['ip'], { ip: '2001:db8::1' })).toBe(key(['ip'], { ip: '2001:db8:0:0:ffff::1' }))
  })

  it('FB-067: does not mix its parts up', () => {
    const parts = ['route', 'user']
    expect(key(parts, { attributes: { route: 'a:b', user: 'c' } })).not.toBe(
      key(parts, { attributes: { route: 'a', user: 'b:c' } }),
    )
  })

  it('takes parameters from the rule’s own path', () => {
    const own = { when: { path: ['/teams/:team', '/users/:id/**'] } }
    expect(key(['param:id'], { path: '/users/7/posts' }, own)).toBe('7')
    expect(key(['param:id'], { path: '/teams/7', attributes: { 'param:id': '9' } }, own)).toBe('9')
  })

  it('never holds an API key or a cookie', () => {
    expect(key(['api-key'], { attributes: { 'api-key': 'sk-1' } })).toMatch(/^%h[0-9a-f]{32}$/)
    expect(key(['cookie:sid'], { headers: { cookie: 'sid=1' } })).toMatch(/^%h[0-9a-f]{32}$/)
  })

  it('is empty where one bucket is for all', () => {
    expect(key([], {})).toBe('')
  })
})

describe('a limit for each plan', () => {
  const own: Partial<Limit> = {
    key: ['tenant'],
    limit: {
      by: 'plan',
      plans: { free: { limit: 100, period: '1h' }, pro: { limit: 5_000, period: '1h' } },
      otherwise: { limit: 20, period: '1h' },
    },
  }

  it('is the plan’s, or the one for all others', () => {
    const capacity = (plan?: string): number | undefined =>
      match([own], { attributes: { tenant: 't', plan } }).steps[0]?.rule.plan.capacity
    expect(['free', 'pro', 'gold', '', '__proto__', undefined].map(capacity)).toEqual([
      100, 5_000, 20, 20, 20, 20,
    ])
  })

  it('keeps what was used when the plan changes: the counter is the same', () => {
    const [free, pro] = ['free', 'pro'].map(
      (plan) => match([own], { attributes: { tenant: 't', plan } }).steps[0]!,
    )
    const counterOf = ({ rule, key }: Step) => [rule.namespace, key, rule.plan.kind]
    expect(counterOf(pro!)).toEqual(counterOf(free!))
  })
})

describe('spread', () => {
  it('gives each key its own phase, always the same, within the period', () => {
    const phase = (user: string) =>
      match([{ key: ['user'], spread: true }], { attributes: { user } }).steps[0]!.phase ?? 0
    const phases = Array.from({ length: 1_000 }, (_, i) => phase(`user${i}`))
    expect(phase('user7')).toBe(phases[7])
    expect(phases.every((own) => Number.isInteger(own) && own >= 0 && own < 60_000_000)).toBe(true)
    const quarters = [0, 1, 2, 3].map(
      (quarter) => phases.filter((own) => Math.floor(own / 15_000_000) === quarter).length,
    )
    expect(Math.min(...quarters)).toBeGreaterThan(200)
  })

  it('is refused where a key’s time begins with the key', () => {
    expect(() => match([{ algorithm: 'token-bucket', spread: true }], {})).toThrow(
      'limit "a": spread is not supported by token-bucket: its windows begin with each key already',
    )
  })
})

describe('prefetch', () => {
  it('is allowed for as much as the quota holds, and not where that refuses all', () => {
    const own = {
      key: ['user'],
      prefetch: 4,
      overrides: [
        { match: 'small', quota: { limit: 3, period: '1m' } },
        { match: 'none', quota: { limit: 0, period: '1m' } },
      ],
    }
    const ahead = (user: string) => match([own], { attributes: { user } }).steps[0]!.rule.prefetch
    expect([ahead('ada'), ahead('small'), ahead('none')]).toEqual([4, 3, undefined])
  })

  it('does not go with every rule', () => {
    const block = { after: 1, within: 1_000, for: 1_000 }
    for (const own of [{ mode: 'shadow' as const }, { block }, { cost: 4 }]) {
      expect(() => match([{ prefetch: 4, ...own }], {})).toThrow(/tak(ing|en) (units )?ahead/)
    }
  })
})
