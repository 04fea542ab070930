import { describe, expect, test } from 'vitest'
import { compile } from '../../core/match/compile.ts'
import { limit } from '../../core/match/limit.samples.ts'
import { createLimiter } from '../../limiter.ts'
import { createPipeline } from '../../pipeline.ts'
import { MemoryStore } from '../../stores/memory.ts'
import { FakeClock } from '../../testing.ts'
import { createOffenders, mergeOffenders, type Offenders, type OffendersOptions } from './offenders.ts'

const MINUTE = 60_000
const RULES = compile([
  {
    name: 'shop',
    limits: [limit({ name: 'user', key: ['user'], limit: { limit: 2, period: '1d' } })],
    descriptors: [],
  },
])

/** A limiter of two in a day, and who came to it. */
function bench(options: OffendersOptions = {}) {
  const clock = new FakeClock()
  const offenders = createOffenders({ now: () => clock.now() / 1_000, ...options })
  const limiter = createLimiter({
    name: 'shop',
    store: new MemoryStore({ clock }),
    policies: { login: { algorithm: 'fixed-window', limit: 2, period: '1d' } },
    observe: offenders.observe,
  })
  const times = (count: number, key: string): void => {
    for (let i = 0; i < count; i++) limiter.check(key)
  }
  return { clock, offenders, limiter, times }
}

/** Rules of two requests in a day for each user, and what one asks for. */
function routed() {
  const clock = new FakeClock()
  const offenders = createOffenders({ now: () => clock.now() / 1_000 })
  const pipeline = createPipeline({
    rules: () => RULES,
    store: new MemoryStore({ clock }),
    observe: offenders.observe,
  })
  const ask = (user: string, path: string): void => {
    pipeline.check({ domain: 'shop', request: { method: 'POST', path, attributes: { user } } })
  }
  return { offenders, ask }
}

function keysOf(offenders: Offenders, kind: 'denied' | 'busiest', window: '5m' | '1d'): object {
  const [list] = offenders.list({ window })
  return Object.fromEntries((list?.[kind].keys ?? []).map(({ key, atMost }) => [key, atMost]))
}

describe('offenders', () => {
  test('are the keys that a policy refused, beside those that came most often', () => {
    const { offenders, limiter, times } = bench()
    times(5, 'ada')
    times(2, 'bob')
    limiter.peek('bob')
    expect(offenders.list()).toEqual([
      {
        domain: 'shop',
        policy: 'login',
        window: '5m',
        since: Date.UTC(2026, 0, 1) - 5 * MINUTE,
        denied: { total: 3, unlisted: 0, keys: [{ key: 'ada', atLeast: 3, atMost: 3 }] },
        busiest: {
          total: 7,
          unlisted: 0,
          keys: [
            { key: 'ada', atLeast: 5, atMost: 5 },
            { key: 'bob', atLeast: 2, atMost: 2 },
          ],
        },
        routes: { total: 0, unlisted: 0, keys: [] },
      },
    ])
    expect(offenders.list({ policy: 'logn' })).toEqual([])
    expect(offenders.list({ domain: 'shop', policy: 'login', top: 1 })[0]!.busiest).toMatchObject({
      unlisted: 2,
      keys: [{ key: 'ada' }],
    })
  })

  test('are forgotten after their windows: minutes after 5 to 6 of them, a day after 24 to 26 hours', () => {
    const { clock, offenders, times } = bench()
    times(3, 'ada')
    clock.advance(5 * MINUTE)
    times(4, 'bob')
    expect(keysOf(offenders, 'busiest', '5m')).toEqual({ ada: 3, bob: 4 })
    clock.advance(MINUTE)
    expect(keysOf(offenders, 'busiest', '5m')).toEqual({ bob: 4 })
    expect(keysOf(offenders, 'busiest', '1d')).toEqual({ ada: 3, bob: 4 })
    clock.advance(23 * 60 * MINUTE)
    times(1, 'eve')
    expect(keysOf(offenders, 'busiest', '1d')).toEqual({ ada: 3, bob: 4, eve: 1 })
    clock.advance(3 * 60 * MINUTE)
    expect(keysOf(offenders, 'busiest', '1d')).toEqual({ eve: 1 })
    clock.advance(27 * 60 * MINUTE)
    expect(offenders.list()).toEqual([])
  })

  test('are not moved by a clock that steps back', () => {
    const { clock, offenders, times } = bench()
    times(3, 'ada')
    clock.advance(-30 * MINUTE)
    times(1, 'ada')
    expect(keysOf(offenders, 'busiest', '5m')).toEqual({ ada: 4 })
  })

  test('of the day are within 1 % of exact counts, through all slices', () => {
    const { clock, offenders, times } = bench()
    const exact = new Map<string, number>()
    for (let minute = 0; minute < 1_440; minute += 7) {
      for (let i = 0; i < 120; i++) {
        const key = i % 3 === 0 ? `often${i % 4}` : `once${minute}-${i}`
        times(1, key)
        exact.set(key, (exact.get(key) ?? 0) + 1)
      }
      clock.advance(7 * MINUTE)
    }
    const [{ busiest } = expect.unreachable()] = offenders.list({ window: '1d', top: 100 })
    const bound = busiest.total / 100
    expect(busiest.total).toBe([...exact.values()].reduce((sum, each) => sum + each))
    for (const { key, atLeast, atMost } of busiest.keys) {
      const count = exact.get(key)!
      expect(atLeast).toBeLessThanOrEqual(count)
      expect(atMost).toBeGreaterThanOrEqual(count)
      expect(Math.max(count - atLeast, atMost - count)).toBeLessThanOrEqual(bound)
    }
    const listed = busiest.keys.map(({ key }) => key)
    for (const [key, count] of exact) if (count > bound) expect(listed).toContain(key)
  })

  test('of policies beyond the most are left out, until one has seen nothing for a day', () => {
    const clock = new FakeClock()
    const offenders = createOffenders({ maxPolicies: 1, now: () => clock.now() / 1_000 })
    const of = (name: string) =>
      createLimiter({
        policies: { [name]: { algorithm: 'fixed-window', limit: 1, period: '1d' } },
        observe: offenders.observe,
      })
    const [first, second] = [of('first'), of('second')]
    first.check('ada')
    second.check('ada')
    expect(offenders.list().map(({ policy }) => policy)).toEqual(['first'])
    expect(offenders.leftOut).toBe(1)
    clock.advance(27 * 60 * MINUTE)
    second.check('ada')
    expect(offenders.list().map(({ policy }) => policy)).toEqual(['second'])
  })

  test('acceptance 6.6: of several nodes merged are those of one node, within the sum of their bounds', () => {
    const nodes = [bench({ counters: 10 }), bench({ counters: 10 }), bench({ counters: 10 })]
    const one = bench({ counters: 1_000 })
    for (let i = 0; i < 3_000; i++) {
      const key = i % 5 === 0 ? `often${i % 3}` : `once${i % 900}`
      one.times(1, key)
      nodes[(i * 7) % 3]!.times(1, key)
    }
    const lists = nodes.map(({ offenders }) => offenders.list({ top: 10 }))
    const [merged = expect.unreachable()] = mergeOffenders(lists, 10)
    const [whole = expect.unreachable()] = one.offenders.list({ top: 1_000 })
    expect(merged.busiest.total).toBe(whole.busiest.total)
    const bound = lists.reduce((sum, [list]) => sum + list!.busiest.total / 10, 0)
    const exact = new Map(whole.busiest.keys.map(({ key, atMost }) => [key, atMost]))
    for (const { key, atLeast, atMost } of merged.busiest.keys) {
      expect(atLeast).toBeLessThanOrEqual(exact.get(key)!)
      expect(atMost).toBeGreaterThanOrEqual(exact.get(key)!)
      expect(atMost - atLeast).toBeLessThanOrEqual(bound)
    }
    expect(
      merged.busiest.keys
        .slice(0, 3)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['often0', 'often1', 'often2'])
  })

  test('have the routes on which they were refused, beside the busiest routes of all', () => {
    const { offenders, ask } = routed()
    for (const path of ['/users/1001', '/users/2002', '/users/3003', '/login', '/login', '/'])
      ask('ada', path)
    ask('bob', '/login')
    const [list = expect.unreachable()] = offenders.list()
    expect(list.denied).toEqual({
      total: 4,
      unlisted: 0,
      keys: [
        {
          key: 'ada',
          atLeast: 4,
          atMost: 4,
          routes: [
            { route: 'POST /login', atLeast: 2 },
            { route: 'POST /', atLeast: 1 },
            { route: 'POST /users/:id', atLeast: 1 },
          ],
        },
      ],
    })
    expect(list.routes).toEqual({
      total: 7,
      unlisted: 0,
      keys: [
        { key: 'POST /login', atLeast: 3, atMost: 3 },
        { key: 'POST /users/:id', atLeast: 3, atMost: 3 },
        { key: 'POST /', atLeast: 1, atMost: 1 },
      ],
    })
    expect(offenders.list({ window: '1d', top: 1 })[0]!.routes.keys).toEqual(list.routes.keys.slice(0, 1))
  })

  test('have their routes of several nodes together', () => {
    const nodes = [routed(), routed()] as const
    for (const { ask } of nodes) for (const path of ['/a', '/b', '/b', '/c']) ask('ada', path)
    nodes[0].ask('ada', '/c')
    const [merged = expect.unreachable()] = mergeOffenders(
      nodes.map(({ offenders }) => offenders.list({ top: 100 })),
      10,
    )
    expect(merged.denied.keys[0]!.routes).toEqual([
      { route: 'POST /c', atLeast: 3 },
      { route: 'POST /b', atLeast: 2 },
    ])
    expect(merged.routes.keys.map(({ key, atMost }) => [key, atMost])).toEqual([
      ['POST /b', 4],
      ['POST /c', 3],
      ['POST /a', 2],
    ])
  })

  test('are counted in memory that routes do not let grow', () => {
    const { offenders, ask } = routed()
    for (let i = 0; i < 5_000; i++)
      ask(`k${i % 7}`, `/${'x'.repeat(i % 30)}/${String.fromCharCode(97 + (i % 26))}`)
    const [list = expect.unreachable()] = offenders.list({ top: 1_000 })
    expect(list.routes.total).toBe(5_000)
    expect(list.routes.keys.length).toBe(100)
    for (const { routes = [] } of list.denied.keys) expect(routes.length).toBeLessThanOrEqual(5)
  })

  test('refuse options and queries that they do not have', () => {
    expect(() => createOffenders({ counter: 5 } as object)).toThrow(/did you mean counters/)
    expect(() => createOffenders().list({ polcy: 'login' } as object)).toThrow(/did you mean policy/)
    expect(() => createOffenders().list({ window: '1h' as '5m' })).toThrow(
      /window must be 5m or 1d, not "1h"/,
    )
    expect(() => createOffenders().list({ top: 0.5 })).toThrow(/top must be a whole number from 1, not 0.5/)
  })
})
