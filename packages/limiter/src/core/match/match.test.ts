import { describe, expect, it } from 'vitest'
import type { Request } from '../request.ts'
import { compile } from './compile.ts'
import { type Matched, matchRequest } from './match.ts'
import type { Limit } from './rule.ts'

function limit(own: Partial<Limit>): Limit {
  return {
    name: 'a',
    key: [],
    limit: { limit: 5, period: '1m' },
    algorithm: 'fixed-window',
    cost: 1,
    onLimit: 'deny',
    mode: 'enforce',
    onStoreError: 'open',
    onMissingKey: 'skip',
    exempt: [],
    overrides: [],
    replaces: [],
    ...own,
  }
}

function match(limits: readonly Partial<Limit>[], request: Request, cost?: number): Matched {
  const rules = compile([{ name: 'shop', limits: limits.map(limit), descriptors: [] }], { secret: 'secret' })
  return matchRequest(rules, 'shop', request, cost)
}

function names(limits: readonly Partial<Limit>[], request: Request): string[] {
  return match(limits, request).subjects.map(({ name }) => name)
}

function key(parts: readonly string[], request: Request, own: Partial<Limit> = {}): string | undefined {
  return match([{ key: parts, ...own }], request).steps[0]?.key
}

describe('a request meets', () => {
  it('every limit whose conditions hold, in their order', () => {
    const limits = [
      { name: 'login', when: { method: ['POST'], path: ['/login'] } },
      { name: 'search', when: { path: ['/search/**'] } },
      { name: 'everyone' },
      { name: 'office', when: { ip: ['10.0.0.0/8', '::1'] } },
      { name: 'model', when: { header: { 'X-Model': ['large', 'huge'] }, query: { v: ['2'] } } },
      { name: 'host', when: { host: ['API.example.com', '*.test'] } },
    ]
    expect(names(limits, { method: 'post', path: '/Login/', ip: '::ffff:10.1.1.1' })).toEqual([
      'login',
      'everyone',
      'office',
    ])
    expect(names(limits, { method: 'GET', path: '/login', host: 'api.example.com.:443' })).toEqual([
      'everyone',
      'host',
    ])
    expect(names(limits, { headers: { 'x-model': 'huge' }, query: { v: '2' }, host: 'a.test' })).toEqual([
      'everyone',
      'model',
      'host',
    ])
    expect(names(limits, { headers: { 'x-model': 'HUGE' }, query: { v: '2' }, ip: 'garbage' })).toEqual([
      'everyone',
    ])
  })

  it('a step with the rule’s plan, and the rule behind it', () => {
    const { steps, subjects } = match(
      [
        {
          key: ['user'],
          algorithm: 'token-bucket',
          limit: { limit: 10, period: '1s' },
          burst: 20,
          soft: 0.8,
          jitter: 0.3,
        },
      ],
      { attributes: { user: 'ann' } },
    )
    expect(steps).toMatchObject([
      { policy: 'shop/a', key: 'ann', cost: 1, role: 'enforce', plan: { limit: 10, capacity: 20 } },
    ])
    expect(subjects).toEqual([
      {
        name: 'a',
        onLimit: 'deny',
        mode: 'enforce',
        onStoreError: 'open',
        windowSeconds: 2,
        soft: 0.8,
        jitter: 0.3,
      },
    ])
  })

  it('one plan and one subject, however many requests there are', () => {
    const rules = compile([{ name: 'shop', limits: [limit({}), limit({ name: 'b' })], descriptors: [] }])
    const [one, two] = [matchRequest(rules, 'shop', {}), matchRequest(rules, 'shop', {})]
    expect(one.steps[0]!.plan).toBe(two.steps[0]!.plan)
    expect(one.steps[0]!.plan).toBe(one.steps[1]!.plan)
    expect(one.subjects[0]).toBe(two.subjects[0])
  })

  it('nothing in a domain that is not there', () => {
    expect(matchRequest(compile([]), 'shop', {}).problem).toContain('"shop"')
  })
})

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

describe('without a part of its key a rule', () => {
  const parts = { key: ['user', 'tenant'] }
  const request = { attributes: { tenant: 't', user: '' } }

  it('T60: does not apply, and is named', () => {
    expect(match([parts], request)).toEqual({ steps: [], subjects: [], missing: ['a'] })
  })

  it('may have one bucket for all who lack it, which nobody else gets into', () => {
    const { steps } = match([{ ...parts, onMissingKey: 'share' }], request)
    expect(steps).toMatchObject([{ key: '%-|t', plan: { capacity: 5 } }])
    expect(key(parts.key, { attributes: { user: '%-', tenant: 't' } })).not.toBe(steps[0]!.key)
  })

  it('may refuse everyone', () => {
    const { steps, subjects } = match([{ ...parts, onMissingKey: 'deny' }], request)
    expect(steps).toMatchObject([{ role: 'enforce', plan: { capacity: 0 } }])
    expect(subjects[0]!.name).toBe('a')
  })
})

describe('the cost', () => {
  function cost(own: number | string, request: Request = {}, given?: number): number | string {
    const { steps, problem } = match([{ cost: own }], request, given)
    return problem ?? steps[0]!.cost
  }

  it('is the rule’s, else the caller’s, else 1', () => {
    expect(cost(1)).toBe(1)
    expect(cost(3)).toBe(3)
    expect(cost(1, {}, 5)).toBe(5)
    expect(cost(3, {}, 5)).toBe(3)
    expect(cost(1, {}, 0)).toBe(0)
  })

  it('is read where the rule says', () => {
    expect(cost('header:X-Tokens', { headers: { 'x-tokens': ' 120 ' } })).toBe(120)
    expect(cost('attribute:tokens', { attributes: { tokens: 7 } })).toBe(7)
    expect(cost('attribute:tokens', { attributes: { tokens: '0' } })).toBe(0)
    expect(cost('header:x-tokens')).toBe(1)
    expect(cost('header:x-tokens', {}, 9)).toBe(9)
  })

  it.each(['-1', '1.5', 'NaN', '', '1e3', '0x10', '9007199254740992', '٣', '1,2'])(
    'is never free for %j',
    (value) => {
      expect(cost('header:x-tokens', { headers: { 'x-tokens': value } })).toContain('header:x-tokens')
    },
  )

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is never free for %d', (value) => {
    expect(cost('attribute:tokens', { attributes: { tokens: value } })).toContain('attribute:tokens')
    expect(cost(1, {}, value)).toContain('cost')
  })

  it('that cannot be told leaves nothing to charge', () => {
    const limits = [{ name: 'b' }, { cost: 'header:x' }]
    expect(match(limits, { headers: { x: 'many' } })).toMatchObject({ steps: [], subjects: [] })
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
      match([own], { attributes: { tenant: 't', plan } }).steps[0]?.plan.capacity
    expect(['free', 'pro', 'gold', '', '__proto__', undefined].map(capacity)).toEqual([
      100, 5_000, 20, 20, 20, 20,
    ])
  })

  it('keeps what was used when the plan changes: the counter is the same', () => {
    const [free, pro] = ['free', 'pro'].map(
      (plan) => match([own], { attributes: { tenant: 't', plan } }).steps[0]!,
    )
    expect([pro!.policy, pro!.key, pro!.plan.kind]).toEqual([free!.policy, free!.key, free!.plan.kind])
  })
})

describe('exempt and overrides', () => {
  it('look at the client’s address and at the raw key', () => {
    const own = { key: ['ip', 'user|fold', 'api-key'], exempt: ['10.0.0.0/8', 'Ren\u00e9', 'sk-free'] }
    const applies = (ip: string, user: string, key: string): boolean =>
      match([own], { ip, attributes: { user, 'api-key': key } }).steps.length > 0
    expect(applies('10.1.1.1', 'x', 'y')).toBe(false)
    expect(applies('1.1.1.1', 'RENE\u0301', 'y')).toBe(false)
    expect(applies('1.1.1.1', 'x', 'sk-free')).toBe(false)
    expect(applies('1.1.1.1', 'x', 'y')).toBe(true)
  })

  it('exempt an address under any key, and without one', () => {
    expect(match([{ exempt: ['10.0.0.0/8'] }], { ip: '10.1.1.1' }).steps).toEqual([])
    expect(match([{ key: ['user'], exempt: ['10.0.0.0/8'] }], { ip: '10.1.1.1' }).missing).toEqual([])
  })

  it('give the first limit that fits, on the same counter', () => {
    const overrides = [
      { match: '10.1.0.0/16', quota: { limit: 50, period: '1m' } },
      { match: '10.0.0.0/8', quota: { limit: 40, period: '1m' } },
      { match: '10.1.1.1', quota: { limit: 30, period: '1m' } },
    ]
    const step = (ip: string) => match([{ key: ['ip'], overrides }], { ip }).steps[0]!
    expect(['10.1.1.1', '10.2.2.2', '11.1.1.1'].map((ip) => step(ip).plan.capacity)).toEqual([50, 40, 5])
    expect(step('10.1.1.1').plan.kind).toBe(step('11.1.1.1').plan.kind)
  })
})

describe('a rule that replaces another', () => {
  const limits = [
    { name: 'a', replaces: ['b'] },
    { name: 'b', replaces: ['c'] },
    { name: 'c' },
    { name: 'd' },
  ]

  it('stands in for it when both apply, and what is replaced still replaces', () => {
    expect(names(limits, {})).toEqual(['a', 'd'])
  })

  it('does nothing where it does not apply itself', () => {
    const [first, ...rest] = limits
    expect(names([{ ...first, when: { path: ['/x'] } }, ...rest], {})).toEqual(['b', 'd'])
    expect(names([{ ...first, key: ['user'] }, ...rest], {})).toEqual(['b', 'd'])
    expect(names([{ ...first, exempt: ['::1'] }, ...rest], { ip: '::1', attributes: {} })).toEqual(['b', 'd'])
  })

  it('lifts no limit while it is in shadow', () => {
    expect(names([{ name: 'a', replaces: ['b'], mode: 'shadow' }, { name: 'b' }], {})).toEqual(['a', 'b'])
  })
})

describe('what a refusal means', () => {
  it('is nothing in shadow, nor when it only lowers the priority', () => {
    const { steps, subjects } = match(
      [{ mode: 'shadow' }, { name: 'b', onLimit: 'deprioritize' }, { name: 'c' }],
      {},
    )
    expect(steps.map(({ role }) => role)).toEqual(['shadow', 'shadow', 'enforce'])
    expect(subjects.map(({ deprioritize }) => deprioritize)).toEqual([undefined, true, undefined])
  })

  it('is watched by a guard, right behind', () => {
    const block = { after: 10, within: 60_000, for: 900_000 }
    const { steps, subjects } = match([{ name: 'z' }, { key: ['ip'], block }, { name: 'c' }], {
      ip: '1.2.3.4',
    })
    expect(steps.map(({ role, watches }) => [role, watches])).toEqual([
      ['enforce', undefined],
      ['enforce', undefined],
      ['guard', 1],
      ['enforce', undefined],
    ])
    expect(steps[2]).toMatchObject({
      policy: 'shop/a',
      key: '1.2.3.4',
      plan: { after: 10, period: 900_000_000 },
    })
    expect(subjects[2]).toBe(subjects[1])
  })

  it('has no guard in shadow, which would refuse', () => {
    const block = { after: 10, within: 60_000, for: 900_000 }
    expect(match([{ mode: 'shadow', block }], {}).steps).toHaveLength(1)
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

  it('moves nothing where a key’s time begins with the key', () => {
    const { steps } = match([{ algorithm: 'token-bucket', spread: true }], {})
    expect(steps[0]!.phase).toBeUndefined()
  })
})

it('FB-071: names of prototypes are names like any other', () => {
  expect(key(['user', 'method'], { method: '__proto__', attributes: { user: '__proto__' } })).toBe(
    '__proto__|__PROTO__',
  )
  expect(match([{ key: ['header:__proto__'] }], {}).missing).toEqual(['a'])
  expect(matchRequest(compile([]), '__proto__', {}).problem).toBeDefined()
})
