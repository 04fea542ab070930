import { inspect } from 'node:util'
import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { ConfigError, createLimiter, type Decision, MemoryStore, type Policy } from './index.ts'
import type { Event } from './observe/events.ts'
import { FakeClock } from './testing.ts'

function setUp(): { clock: FakeClock; store: MemoryStore } {
  const clock = new FakeClock()
  return { clock, store: new MemoryStore({ clock }) }
}

describe('limiter', () => {
  it('answers at once on the in-process store', () => {
    const limiter = createLimiter({
      policies: { api: { algorithm: 'token-bucket', limit: 2, period: '1s', burst: 4 } },
    })
    const decision = limiter.check('ada')
    expectTypeOf(decision).toEqualTypeOf<Decision<'api', number>>()
    expect(decision).toMatchObject({
      allowed: true,
      policy: 'api',
      limit: 4,
      remaining: 3,
      retryAfterMs: 0,
      degraded: false,
    })
  })

  it('tells the fifth of five at once to come back in 500 ms', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { api: { algorithm: 'token-bucket', limit: 2, period: '1s', burst: 4 } },
    })
    const waits = [1, 2, 3, 4, 5].map(() => limiter.check('ada').retryAfterMs)
    expect(waits).toEqual([0, 0, 0, 0, 500])
  })

  it('T05: charges all policies of a request or none, and reports the one that decided', () => {
    const { clock, store } = setUp()
    const limiter = createLimiter({
      store,
      policies: {
        second: { algorithm: 'fixed-window', limit: 1, period: '1s' },
        hour: { algorithm: 'fixed-window', limit: 100, period: '1h' },
      },
    })
    const allowed = Array.from({ length: 10 }, () => limiter.check('k').allowed)
    expect(allowed.filter(Boolean)).toHaveLength(1)
    const { policy, policies } = limiter.peek('k')
    expect(policy).toBe('second')
    expect(policies[1]).toMatchObject({ policy: 'hour', allowed: true, remaining: 99 })
    clock.advance(1_000)
    expect(limiter.check('k').policies[1]!.remaining).toBe(98)
  })

  it('FB-073: two policies with one key have a counter each', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: {
        minute: { algorithm: 'fixed-window', limit: 5, period: '1m' },
        day: { algorithm: 'fixed-window', limit: 50, period: '1d' },
      },
    })
    expect(Array.from({ length: 6 }, () => limiter.check('ip').allowed)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ])
  })

  it('T01: a refusal is not charged: of 10, 8 and then 5 and then 2 are asked', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { p: { algorithm: 'fixed-window', limit: 10, period: '1m' } },
    })
    expect([8, 5, 2].map((cost) => limiter.check('k', { cost }).allowed)).toEqual([true, false, true])
  })

  it('FB-035, T66: refuses a cost that is no whole number as a mistake, and changes nothing', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { p: { algorithm: 'gcra', limit: 10, period: '1m' } },
    })
    limiter.check('k', { cost: 5 })
    for (const cost of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, {}]) {
      for (const verb of [limiter.check, limiter.peek, limiter.reserve]) {
        expect(() => verb('k', { cost: cost as number }), String(cost)).toThrow(TypeError)
      }
    }
    expect(limiter.peek('k').remaining).toBe(5)
  })

  it('looks at cost 0, and writes nothing', () => {
    const { store } = setUp()
    const limiter = createLimiter({ store, policies: { p: { algorithm: 'gcra', limit: 1, period: '1m' } } })
    expect(limiter.check('k', { cost: 0 })).toMatchObject({ allowed: true, remaining: 1 })
    expect(store.size).toBe(0)
  })

  it('says never, not a number, when no wait helps', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { p: { algorithm: 'gcra', limit: 10, period: '1m' } },
    })
    expect(limiter.check('k', { cost: 11 })).toMatchObject({
      allowed: false,
      retryAfterMs: null,
      remaining: 10,
    })
    const none = createLimiter({
      store: setUp().store,
      policies: { p: { algorithm: 'fixed-window', limit: 0, period: '1m' } },
    })
    expect(none.check('k')).toMatchObject({ allowed: false, retryAfterMs: null, remaining: 0 })
  })

  it('tells keys apart, whatever they are made of', () => {
    const keys = [
      '',
      'a',
      'a|b',
      ['a', 'b'],
      ['a|b'],
      ['a', '', 'b'],
      [''],
      ['', ''],
      '__proto__',
      'constructor',
      '\0a',
      ['a'],
      String.fromCharCode(0xd800),
      String.fromCharCode(0xdfff),
      '🦆',
      ' ',
      '\n',
      'x'.repeat(10_240),
      `${'x'.repeat(10_239)}y`,
    ]
    for (const algorithm of ['gcra', 'sliding-window-log'] as const) {
      const limiter = createLimiter({
        store: setUp().store,
        policies: { p: { algorithm, limit: 1, period: '1m' } },
      })
      for (const key of keys) expect(limiter.check(key).allowed, JSON.stringify(key)).toBe(true)
      for (const key of keys) expect(limiter.check(key).allowed, JSON.stringify(key)).toBe(false)
    }
  })

  it('T60: refuses a missing key, rather than share it', () => {
    const limiter = createLimiter({ policies: { p: { algorithm: 'gcra', limit: 1, period: '1m' } } })
    for (const key of [undefined, null, 7, [], [undefined], {}]) {
      expect(() => limiter.check(key as never), JSON.stringify(key)).toThrow(TypeError)
    }
  })

  it('peeks without charging', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { p: { algorithm: 'gcra', limit: 2, period: '1m' } },
    })
    expect([1, 2, 3].map(() => limiter.peek('k').remaining)).toEqual([2, 2, 2])
    expect(limiter.peek('k', { cost: 3 }).allowed).toBe(false)
  })

  it('resets one key, and only that', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: {
        a: { algorithm: 'gcra', limit: 1, period: '1m' },
        b: { algorithm: 'sliding-window-log', limit: 1, period: '1m' },
      },
    })
    for (const key of ['user', 'user:1', '*']) limiter.check(key)
    limiter.reset('user')
    expect(['user', 'user:1', '*'].map((key) => limiter.check(key).allowed)).toEqual([true, false, false])
  })

  it('keeps shadow policies from refusing anything', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: {
        live: { algorithm: 'gcra', limit: 5, period: '1m' },
        tried: { algorithm: 'gcra', limit: 1, period: '1m', shadow: true },
      },
    })
    limiter.check('k')
    const { allowed, policy, policies } = limiter.check('k')
    expect({ allowed, policy }).toEqual({ allowed: true, policy: 'live' })
    expect(policies[1]).toMatchObject({ allowed: false, shadow: true })
  })

  it('marks decisions past the soft threshold', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { p: { algorithm: 'gcra', limit: 5, period: '1m', soft: 0.8 } },
    })
    expect([1, 2, 3, 4, 5].map(() => limiter.check('k').policies[0]!.soft ?? false)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })

  it('blocks after refusals, and by hand', () => {
    const { clock, store } = setUp()
    const limiter = createLimiter({
      store,
      policies: {
        login: {
          algorithm: 'fixed-window',
          limit: 1,
          period: '1s',
          block: { after: 3, within: '1m', for: '15m' },
        },
      },
    })
    for (let i = 0; i < 3; i++) limiter.check('mallory')
    expect(limiter.check('mallory')).toMatchObject({ retryAfterMs: 900_000, policies: [{ blocked: true }] })
    clock.advance(1_000)
    expect(limiter.check('mallory')).toMatchObject({
      allowed: false,
      policy: 'login',
      retryAfterMs: 899_000,
      policies: [{ blocked: true }],
    })
    limiter.unblock('mallory')
    expect(limiter.check('mallory').allowed).toBe(true)
    limiter.block('mallory', '1h')
    clock.advance(2_000)
    expect(limiter.check('mallory')).toMatchObject({ allowed: false, retryAfterMs: 3_598_000 })
  })

  it('needs to be told that keys will be blocked by hand', () => {
    const policies = { p: { algorithm: 'gcra', limit: 1, period: '1m' } } as const
    expect(() => createLimiter({ policies }).block('k', '1m')).toThrow(ConfigError)
    const limiter = createLimiter({ policies, blockable: true })
    limiter.block('k', '1m')
    expect(limiter.check('k').allowed).toBe(false)
    expect(limiter.check('other').allowed).toBe(true)
  })

  it('refuses configurations that mean nothing', () => {
    const wrong = [
      { algorithm: 'gcra', limit: Number.NaN, period: '1m' },
      { algorithm: 'gcra', limit: -1, period: '1m' },
      { algorithm: 'gcra', limit: 1.5, period: '1m' },
      { algorithm: 'gcra', limit: 1, period: 0 },
      { algorithm: 'gcra', limit: 1, period: 'soon' },
      { algorithm: 'fixed-window', limit: 1, period: '1m', burst: 2 },
      { algorithm: 'gcra', limit: 2 ** 52, period: '365d' },
      { algorithm: 'toString', limit: 1, period: '1m' },
      { algorithm: 'gcra', limit: 1, period: '1m', soft: 2 },
      { algorithm: 'gcra', limit: 1, period: '1m', block: { after: 0, within: 1, for: 1 } },
      { algorithm: 'gcra', limit: 10, period: '1m', prefetch: 1 },
      { algorithm: 'gcra', limit: 10, period: '1m', prefetch: 5, shadow: true },
      { algorithm: 'gcra', limit: 10, period: '1m', prefetch: 5, block: { after: 1, within: 1, for: 1 } },
    ]
    for (const policy of wrong)
      expect(() => createLimiter({ policies: { p: policy as never } }), JSON.stringify(policy)).toThrow(
        ConfigError,
      )
    expect(() => createLimiter({ policies: {} })).toThrow(ConfigError)
    const leased = { algorithm: 'gcra', limit: 10, period: '1m', prefetch: 5 } as const
    expect(() => createLimiter({ policies: { leased, other: leased } })).toThrow(ConfigError)
    expect(() => createLimiter({ policies: { leased }, blockable: true })).toThrow(ConfigError)
    expect(() => createLimiter({ policies: { näme: { algorithm: 'gcra', limit: 1, period: 1 } } })).toThrow(
      ConfigError,
    )
  })

  it('OF-01: keeps what was used when a limit that has to be counted in another unit of time takes its place', () => {
    const store = new MemoryStore({ clock: new FakeClock() })
    const limiterOf = (limit: number, more: Partial<Policy> = {}) =>
      createLimiter({ store, policies: { api: { algorithm: 'token-bucket', limit, period: '1d', ...more } } })
    expect(limiterOf(104_249).check('k', { cost: 104_249 }).allowed).toBe(true)
    expect(limiterOf(104_250).peek('k').remaining).toBe(1)
    expect(limiterOf(10, { burst: 104_250_000 }).peek('k').remaining).toBe(104_250_000 - 104_249)
    expect(limiterOf(104_249).peek('k').remaining).toBe(0)
  })

  it('keeps what was used when a limit changes, and applies the new one at once (FB-084)', () => {
    const { store } = setUp()
    const at = (limit: number) =>
      createLimiter({ store, policies: { p: { algorithm: 'fixed-window', limit, period: '1h' } } })
    for (let i = 0; i < 15; i++) at(5_000_000).check('k')
    expect(at(20).peek('k').remaining).toBe(5)
    expect(at(10).peek('k')).toMatchObject({ remaining: 0, allowed: false })
  })
})

describe('reservations and refunds', () => {
  const policies = { tokens: { algorithm: 'token-bucket', limit: 100, period: '100s' } } as const

  it('settles for less, for more, and gives back', () => {
    const limiter = createLimiter({ store: setUp().store, policies })
    const left = () => limiter.peek('k').remaining
    const less = limiter.reserve('k', { cost: 50 })
    expect(left()).toBe(50)
    expect(less.commit(20)).toBe(true)
    expect(left()).toBe(80)
    expect(limiter.reserve('k', { cost: 10 }).commit(30)).toBe(true)
    expect(left()).toBe(50)
    expect(limiter.reserve('k', { cost: 50 }).cancel()).toBe(true)
    expect(left()).toBe(50)
  })

  it('settles once', () => {
    const limiter = createLimiter({ store: setUp().store, policies })
    const reservation = limiter.reserve('k', { cost: 50 })
    expect([reservation.cancel(), reservation.cancel(), reservation.commit(0)]).toEqual([true, false, false])
    expect(limiter.peek('k').remaining).toBe(100)
  })

  it('FB-048: charges into debt, bounded, and then says exactly how long the debt lasts', () => {
    const limiter = createLimiter({ store: setUp().store, policies })
    limiter.reserve('k', { cost: 1 }).commit(142)
    expect(limiter.check('k')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 43_000 })
    limiter.reserve('other', { cost: 1 }).commit(2 ** 53 - 1)
    expect(limiter.check('other')).toMatchObject({ allowed: false, retryAfterMs: 101_000 })
  })

  it('ends by itself: past its time the estimate stands, and cannot be settled', () => {
    const { clock, store } = setUp()
    const limiter = createLimiter({ store, policies })
    const reservation = limiter.reserve('k', { cost: 50, ttl: '10s' })
    clock.advance(10_000)
    expect(reservation.commit(10)).toBe(false)
    expect(limiter.peek('k').remaining).toBe(60)
  })

  it('has nothing to settle when it was refused', () => {
    const limiter = createLimiter({ store: setUp().store, policies })
    const reservation = limiter.reserve('k', { cost: 101 })
    expect(reservation.decision.allowed).toBe(false)
    expect(reservation.commit(5)).toBe(false)
    expect(limiter.peek('k').remaining).toBe(100)
  })

  it('T12: gives back only in the window in which it was charged', () => {
    for (const algorithm of ['fixed-window', 'sliding-window-log'] as const) {
      const { clock, store } = setUp()
      const limiter = createLimiter({ store, policies: { p: { algorithm, limit: 3, period: '1s' } } })
      const slow = [1, 2, 3].map(() => limiter.reserve('k'))
      clock.advance(1_000)
      for (let i = 0; i < 3; i++) limiter.check('k')
      for (const reservation of slow) reservation.cancel()
      expect(limiter.check('k').allowed, algorithm).toBe(false)
    }
  })

  it('T14: a refund never mints above capacity', () => {
    const limiter = createLimiter({ store: setUp().store, policies })
    const decision = limiter.check('k', { cost: 10 })
    limiter.refund(decision, 1_000)
    limiter.refund(decision)
    expect(limiter.peek('k').remaining).toBe(100)
  })

  it('refunds a part of what a decision charged', () => {
    const limiter = createLimiter({ store: setUp().store, policies })
    limiter.refund(limiter.check('k', { cost: 10 }), 4)
    expect(limiter.peek('k').remaining).toBe(94)
  })

  it('FB-034: acquiring and releasing in turn leaves the log as it was', () => {
    const { clock, store } = setUp()
    const limiter = createLimiter({
      store,
      policies: { p: { algorithm: 'sliding-window-log', limit: 10, period: '1s' } },
    })
    for (let i = 0; i < 9; i++) {
      limiter.reserve('k').cancel()
      clock.advance(100)
    }
    clock.advance(101)
    expect(limiter.peek('k').remaining).toBe(10)
    expect(limiter.check('k').remaining).toBe(9)
  })

  it('holds leases until they are given back or run out', () => {
    const { clock, store } = setUp()
    const limiter = createLimiter({
      store,
      policies: { jobs: { algorithm: 'concurrency', limit: 2, period: '30s' } },
    })
    const first = limiter.reserve('k')
    limiter.reserve('k')
    expect(limiter.check('k')).toMatchObject({ allowed: false, retryAfterMs: 30_000 })
    first.commit(1)
    first.commit(1)
    expect(limiter.check('k').allowed).toBe(true)
    expect(limiter.check('k').allowed).toBe(false)
    clock.advance(30_000)
    expect(limiter.check('k').remaining).toBe(1)
  })

  it('FB-090: of 10,000 tokens a minute, ten streams of 1,000 pass, however they were estimated', () => {
    const limiter = createLimiter({
      store: setUp().store,
      policies: { tpm: { algorithm: 'fixed-window', limit: 10_000, period: '1m' } },
    })
    let passed = 0
    for (let i = 0; i < 20; i++) {
      const reservation = limiter.reserve('deployment', { cost: 500 })
      if (reservation.commit(1_000)) passed++
    }
    expect(passed).toBe(10)
  })

  it('OF-07: only reads the figures of a store: they may be frozen, or given twice', () => {
    const figures = Object.freeze({
      allowed: true,
      limit: 10,
      remaining: 2,
      retryAfterMs: 0,
      moreAfterMs: 1,
      resetAfterMs: 1,
      delayMs: 0,
    })
    const store = Object.assign(new MemoryStore(), {
      decide: (steps: readonly unknown[]) =>
        Object.freeze({ allowed: true, at: 0, figures: Object.freeze(steps.map(() => figures)) }),
    })
    const policy = { algorithm: 'gcra', limit: 10, period: '1m', soft: 0.5 } as const
    const limiter = createLimiter({
      store,
      policies: { a: policy, b: { ...policy, shadow: true } },
    })
    const { policy: binding, policies } = limiter.check('k')
    expect(binding).toBe('a')
    expect(policies).toEqual([
      { policy: 'a', ...figures, windowSeconds: 60, soft: true },
      { policy: 'b', ...figures, windowSeconds: 60, soft: true, shadow: true },
    ])
  })

  it('has all policies of a decision in JSON and in what console.log shows', () => {
    const limiter = createLimiter({ policies: { p: { algorithm: 'gcra', limit: 1, period: '1m' } } })
    const decision = limiter.check('k')
    expect(JSON.parse(JSON.stringify(decision)).policies).toMatchObject([{ policy: 'p', remaining: 0 }])
    expect(inspect(decision)).toContain("policy: 'p'")
    expect(decision.policies).toBe(decision.policies)
  })

  it('tells an observer of decisions, reservations and settlements', () => {
    const events: Event[] = []
    const limiter = createLimiter({
      name: 'mine',
      policies: { p: { algorithm: 'gcra', limit: 5, period: '1m' } },
      observe: (event) => events.push(event),
    })
    limiter.refund(limiter.check('k'))
    limiter.peek('k')
    const reservation = limiter.reserve('k')
    reservation.commit(1)
    reservation.cancel()
    expect(events).toMatchObject([
      { type: 'decided', domain: 'mine', peek: false },
      { type: 'settled', domain: 'mine', settled: true },
      { type: 'decided', peek: true },
      { type: 'decided', peek: false },
      { type: 'reserved', domain: 'mine', decision: { allowed: true } },
      { type: 'settled', settled: true },
      { type: 'settled', settled: false },
    ])
  })

  it('OF-06: gives a decision back once, in parts or as a whole, and never more than it took', () => {
    for (const { name, policy } of variantsOf()) {
      const limiter = createLimiter({
        store: setUp().store,
        policies: { p: { ...policy, limit: 10, period: '1m' } },
      })
      const first = limiter.check('k', { cost: 4 })
      limiter.check('k', { cost: 4 })
      for (let i = 0; i < 2; i++) limiter.refund(first)
      expect(limiter.peek('k').remaining, name).toBe(6)
      if (policy.algorithm === 'concurrency') continue
      const parts = limiter.check('k', { cost: 5 })
      for (const amount of [2, 2, 2, 9]) limiter.refund(parts, amount)
      expect(limiter.peek('k').remaining, name).toBe(6)
      limiter.refund(limiter.check('k', { cost: 9 }))
      expect(limiter.peek('k').remaining, name).toBe(6)
    }
  })

  it('OF-02: never gives a turn of a queue to two requests', () => {
    const queue = { algorithm: 'leaky-bucket', limit: 1, period: '1s', burst: 10 } as const
    const limiter = createLimiter({ store: setUp().store, policies: { queue } })
    const [a, b, c] = [1, 2, 3].map(() => limiter.reserve('k'))
    expect([a, b, c].map((own) => own!.decision.delayMs)).toEqual([0, 1_000, 2_000])
    b!.cancel()
    expect(limiter.peek('k').remaining).toBe(8)
    expect(limiter.reserve('k').decision.delayMs).toBe(3_000)
  })

  it('OF-06: gives back once what was refunded and cancelled, or committed and refunded', () => {
    for (const { name, policy } of variantsOf((name) => name !== 'concurrency')) {
      const limiter = createLimiter({
        store: setUp().store,
        policies: { p: { ...policy, limit: 20, period: '1m' } },
      })
      limiter.check('k', { cost: 6 })
      const cancelled = limiter.reserve('k', { cost: 4 })
      limiter.refund(cancelled.decision, 3)
      expect(cancelled.cancel(), name).toBe(true)
      expect(limiter.peek('k').remaining, name).toBe(14)
      const committed = limiter.reserve('k', { cost: 4 })
      committed.commit(7)
      for (let i = 0; i < 3; i++) limiter.refund(committed.decision)
      expect(limiter.peek('k').remaining, name).toBe(11) // what was charged more stays charged
    }
  })
})

it('limiters of one store never share a counter, whatever they and their policies are called', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F'), minLength: 1, maxLength: 5 })
  const pair = fc.record({
    name: fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F', '\0'), minLength: 1, maxLength: 5 }),
    policy: text,
  })
  // Slashes, escapes and NULs moved from one name to the other are what may meet.
  const cut = fc.tuple(text, fc.nat(5), fc.nat(5)).map(([whole, i, j]) => {
    const pairAt = (at: number) => ({ name: `a${whole.slice(0, at)}`, policy: `${whole.slice(at)}a` })
    return [pairAt(i), pairAt(j)] as const
  })
  const joined = fc.tuple(text, text, text).map(
    ([a, b, c]) =>
      [
        { name: `${a}/${b}`, policy: c },
        { name: a, policy: `${b}/${c}` },
      ] as const,
  )
  fc.assert(
    fc.property(fc.oneof(fc.tuple(pair, pair), cut, joined), ([one, other]) => {
      fc.pre(one.name !== other.name || one.policy !== other.policy)
      const { store } = setUp()
      const limiters = [one, other].map(({ name, policy }) =>
        createLimiter({
          name,
          store,
          policies: { [policy]: { algorithm: 'fixed-window', limit: 10, period: '1d' } },
        }),
      )
      expect(limiters.map((limiter) => limiter.check('ada').remaining)).toEqual([9, 9])
    }),
    { numRuns: 500 },
  )
})
