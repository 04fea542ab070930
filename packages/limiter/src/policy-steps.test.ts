import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { ConfigError, createLimiter, ipKey, type Key, MemoryStore } from './index.ts'
import { FakeClock } from './testing.ts'

const tokens = () =>
  createLimiter({
    store: new MemoryStore({ clock: new FakeClock() }),
    blockable: true,
    policies: {
      rpm: { algorithm: 'fixed-window', limit: 3, period: '1m', key: 'apiKey' },
      tpm: { algorithm: 'fixed-window', limit: 1_000, period: '1m', key: 'tenant' },
    },
  })

describe('a key and a cost for each policy', () => {
  it('charges all, each by its own key and cost, or none', () => {
    const limiter = tokens()
    const ask = (tenant: string, apiKey: string, tpm: number) =>
      limiter.check({ tenant, apiKey }, { cost: { rpm: 1, tpm } })
    expect(ask('t1', 'k1', 600).policies.map(({ remaining }) => remaining)).toEqual([2, 400])
    expect(ask('t1', 'k2', 600)).toMatchObject({ allowed: false, policy: 'tpm', remaining: 400 })
    expect(ask('t1', 'k2', 400).policies.map(({ remaining }) => remaining)).toEqual([2, 0])
    expect(ask('t2', 'k1', 400).policies.map(({ remaining }) => remaining)).toEqual([1, 600])
    expect(limiter.peek({ tenant: 't2', apiKey: 'k3' }, { cost: { tpm: 601 } }).allowed).toBe(false)
  })

  it('lets a policy that is not named cost 1, and 0 only looks', () => {
    const limiter = tokens()
    const remaining = (cost: { rpm?: number; tpm?: number }) =>
      limiter.check({ tenant: 't', apiKey: 'k' }, { cost }).policies.map((own) => own.remaining)
    expect(remaining({ tpm: 10 })).toEqual([2, 990])
    expect(remaining({ rpm: 0 })).toEqual([2, 989])
  })

  it('reserves, commits and refunds by name, and no more than was charged', () => {
    const limiter = tokens()
    const key = { tenant: 't', apiKey: 'k' }
    const left = () => limiter.peek(key, { cost: 0 }).policies.map(({ remaining }) => remaining)
    const reservation = limiter.reserve(key, { cost: { tpm: 500 } })
    expect(() => reservation.commit({ tmp: 1 } as object)).toThrow('did you mean tpm?')
    expect(reservation.commit({ tpm: 200 })).toBe(true)
    expect(left()).toEqual([2, 800])
    const decision = limiter.check(key, { cost: { tpm: 500 } })
    expect(() => limiter.refund(decision, { tpm: 0.5, rpm: 1 })).toThrow(TypeError)
    limiter.refund(decision, { tpm: 300 })
    expect(left()).toEqual([1, 600])
    limiter.refund(decision)
    limiter.refund(decision, { tpm: 300, rpm: 1 })
    expect(left()).toEqual([2, 800])
  })

  it('resets and blocks the fields that are given', () => {
    const limiter = tokens()
    const key = { tenant: 't', apiKey: 'k' }
    limiter.check(key, { cost: { tpm: 500 } })
    limiter.reset({ tenant: 't' })
    expect(limiter.peek(key).policies.map(({ remaining }) => remaining)).toEqual([2, 1_000])
    limiter.block({ apiKey: 'k' }, '1h')
    expect(limiter.check(key)).toMatchObject({ allowed: false, policy: 'rpm', blocked: true })
    expect(limiter.check({ tenant: 't', apiKey: 'other' }).allowed).toBe(true)
    limiter.unblock({ apiKey: 'k' })
    limiter.block({ tenant: 't' }, '1h')
    expect(limiter.check(key)).toMatchObject({ allowed: false, policy: 'tpm', blocked: true })
  })

  it('says what is wrong, and charges nothing', () => {
    const limiter = tokens()
    const check = limiter.check as (key: unknown, options?: unknown) => unknown
    const key = { tenant: 't', apiKey: 'k' }
    for (const [wrong, message] of [
      ['t', 'key must be an object with apiKey, tenant'],
      [['t'], 'key must be an object with apiKey, tenant'],
      [undefined, 'key must be an object with apiKey, tenant'],
      [{ tenant: 't' }, 'key.apiKey must be given'],
      [{ tenant: 't', apiKey: undefined }, 'key.apiKey must be given'],
      [
        { tenant: 't', apikey: 'k' },
        'key names "apikey", which is no field of this limiter; did you mean apiKey?',
      ],
      [{ tenant: 't', apiKey: 7 }, 'key.apiKey must be a string or an array of strings'],
    ] as const) {
      expect(() => check(wrong), message).toThrow(TypeError)
      expect(() => check(wrong), message).toThrow(message)
    }
    for (const [cost, message] of [
      [{ tmp: 5 }, 'cost names "tmp", which is no policy of this limiter; did you mean tpm?'],
      [{}, 'cost must be a number, or an object that names policies'],
      [{ tpm: -1 }, 'cost must be a whole number'],
      [{ tpm: '5' }, 'cost must be a whole number'],
      [[5], 'cost names "0"'],
    ] as const) {
      expect(() => check(key, { cost }), message).toThrow(TypeError)
      expect(() => check(key, { cost }), message).toThrow(message)
    }
    expect(() => limiter.reset({})).toThrow('key.apiKey must be given')
    expect(limiter.peek(key).policies.map(({ remaining }) => remaining)).toEqual([3, 1_000])
    const policy = { algorithm: 'gcra', limit: 1, period: '1s' } as const
    expect(() => createLimiter({ policies: { a: { ...policy, key: 'x' }, b: policy } })).toThrow(ConfigError)
    expect(() => createLimiter({ policies: { a: { ...policy, key: '' } } })).toThrow('the name of a field')
  })

  it('keeps identities apart: no two share a counter, whatever they are made of', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('a|b', 'a', '\0a', '%7C', 't', '__proto__', 'constructor'),
    )
    const key: fc.Arbitrary<Key> = fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 }))
    const pairs = fc.uniqueArray(fc.record({ a: key, b: key }), {
      minLength: 2,
      maxLength: 6,
      selector: (each) => JSON.stringify(each),
    })
    fc.assert(
      fc.property(pairs, (asked) => {
        const policy = { algorithm: 'fixed-window', limit: 1_000, period: '1d' } as const
        const limiter = createLimiter({
          policies: { a: { ...policy, key: 'a' }, b: { ...policy, key: 'b' } },
        })
        for (const each of asked) limiter.check(each)
        for (const each of asked) {
          const used = limiter.peek(each, { cost: 0 }).policies.map(({ remaining }) => 1_000 - remaining)
          const same = (field: 'a' | 'b') =>
            asked.filter((other) => JSON.stringify(other[field]) === JSON.stringify(each[field])).length
          expect(used).toEqual([same('a'), same('b')])
        }
      }),
      { numRuns: 200 },
    )
  })

  it('takes as much as is left, of the policy with the least', () => {
    const limiter = createLimiter({
      store: new MemoryStore({ clock: new FakeClock() }),
      policies: {
        day: { algorithm: 'fixed-window', limit: 10, period: '1d' },
        minute: { algorithm: 'sliding-window-log', limit: 4, period: '1m' },
        tried: { algorithm: 'gcra', limit: 1, period: '1m', shadow: true },
      },
    })
    limiter.check('k', { cost: 3 })
    expect(limiter.takeUpTo('k', 20)).toMatchObject({ cost: 1, decision: { allowed: true } })
    expect(limiter.takeUpTo('k', 20)).toMatchObject({ cost: 0, decision: { allowed: false } })
    expect(limiter.takeUpTo('l', 2)).toMatchObject({ cost: 2, decision: { allowed: true, remaining: 2 } })
    expect(limiter.takeUpTo('l', 0)).toMatchObject({ cost: 0, decision: { allowed: true } })
    expect(() => limiter.takeUpTo('l', 0.5)).toThrow(TypeError)
  })
})

describe('types', () => {
  it('carry the names of policies and fields, and check durations', () => {
    const limiter = tokens()
    const decision = limiter.peek({ tenant: 't', apiKey: 'k' })
    expectTypeOf(decision.policy).toEqualTypeOf<'rpm' | 'tpm' | ''>()
    expectTypeOf(decision.policies[0]!.policy).toEqualTypeOf<'rpm' | 'tpm'>()
    const wrong = () => {
      // @ts-expect-error: no policy is named so
      limiter.check({ tenant: 't', apiKey: 'k' }, { cost: { tmp: 1 } })
      // @ts-expect-error: a field is missing
      limiter.check({ tenant: 't' })
      // @ts-expect-error: policies name fields
      limiter.check('t')
      // @ts-expect-error: months have no length
      createLimiter({ policies: { p: { algorithm: 'gcra', limit: 1, period: '1 month' } } })
      const policy = { algorithm: 'gcra', limit: 1 } as const
      const [a, b] = [{ ...policy, period: '3h' } as const, { ...policy, period: 'moth' } as const]
      // @ts-expect-error: one of several
      createLimiter({ policies: { a, b } })
      const block = { after: 1, within: '1m', for: '1 year' } as const
      // @ts-expect-error: nor have years
      createLimiter({ policies: { p: { algorithm: 'gcra', limit: 1, period: '1m', block } } })
      // @ts-expect-error: no unit
      limiter.block({ tenant: 't' }, '15')
      // @ts-expect-error: no unit is named so
      limiter.reserve({ tenant: 't', apiKey: 'k' }, { ttl: '5 mns' })
    }
    expect(wrong).toBeTypeOf('function')
    const policy = { algorithm: 'gcra', limit: 1 } as const
    createLimiter({ policies: { a: { ...policy, period: '3h' }, b: { ...policy, period: 'week' } } })
    const day = {
      algorithm: 'fixed-window',
      limit: 1,
      period: { calendar: 'day', zone: 'Europe/Paris' },
    } as const
    createLimiter({
      policies: {
        a: { ...policy, period: '3h', key: 'x' },
        b: { ...policy, period: 'week', key: 'y' },
        c: { ...day, key: 'z' },
      },
    }).check({ x: '1', y: '2', z: '3' })
    const text: string = '90s'
    createLimiter({
      policies: {
        p: { algorithm: 'gcra', limit: 1, period: text, block: { after: 1, within: '1.5h', for: text } },
      },
    })
    createLimiter({
      policies: {
        p: { algorithm: 'gcra', limit: 1, period: '15 minutes' },
        q: { algorithm: 'gcra', limit: 1, period: 250 },
      },
    })
    expect(ipKey('2001:db8::1')).toBe(ipKey('2001:db8::2'))
  })
})
