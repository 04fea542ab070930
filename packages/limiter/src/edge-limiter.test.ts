import { describe, expect, it } from 'vitest'
import { type AlgorithmName, algorithms, planOf, policyOf } from './core/decide/algorithms.ts'
import { receiptOf } from './core/decide/decision.ts'
import { shareOf } from './core/decide/share.ts'
import { ConfigError } from './core/errors.ts'
import { createLimiter, fixedWindow, gcra, MapStore, slidingWindowCounter, tokenBucket } from './edge.ts'
import { createLimiter as createNamedLimiter, type LimiterPolicy } from './limiter.ts'
import { MemoryStore } from './stores/memory.ts'
import { FakeClock } from './testing.ts'

const names = Object.keys(algorithms) as AlgorithmName[]

/** What a limiter says of twenty requests, a tenth of a second apart. */
function said(limiter: ReturnType<typeof createNamedLimiter>, clock: FakeClock): unknown[] {
  return Array.from({ length: 20 }, (_, i) => {
    clock.advance(100)
    return limiter.check(`user ${i % 2}`, { cost: 1 + (i % 3) })
  })
}

describe('algorithms given as objects', () => {
  it.each(names)('decide as %s does by its name', (name) => {
    const policy = { limit: 5, period: '1s' } as const
    const clocks = [new FakeClock(), new FakeClock(), new FakeClock()] as const
    const named = createNamedLimiter({
      store: new MemoryStore({ clock: clocks[0] }),
      policies: { api: { algorithm: name, ...policy } },
    })
    const given = createNamedLimiter({
      store: new MemoryStore({ clock: clocks[1] }),
      policies: { api: { algorithm: algorithms[name], ...policy } },
    })
    const small = createLimiter({
      store: new MapStore({ clock: clocks[2] }),
      policies: { api: { algorithm: algorithms[name], ...policy } },
    })
    const expected = said(named, clocks[0])
    expect(said(given, clocks[1])).toEqual(expected)
    expect(said(small as typeof named, clocks[2])).toEqual(expected)
  })

  it('take the options of their own algorithm alone', () => {
    const limiterOf =
      (policy: object): (() => unknown) =>
      () =>
        createLimiter({ policies: { api: policy as LimiterPolicy & { algorithm: typeof gcra } } })
    const bucket = { algorithm: tokenBucket, limit: 10, period: '1s' }
    expect(limiterOf({ ...bucket, burst: 20, refill: 'interval' })).not.toThrow()
    expect(limiterOf({ ...bucket, refill: 'intervall' })).toThrow(
      'policies.api.refill must be greedy or interval, not "intervall"; did you mean interval?',
    )
    expect(limiterOf({ ...bucket, algorithm: gcra, refill: 'interval' })).toThrow(
      'no option is named "policies.api.refill"',
    )
    expect(limiterOf({ ...bucket, algorithm: gcra, brust: 3 })).toThrow('did you mean burst?')
    expect(limiterOf({ ...bucket, algorithm: slidingWindowCounter, rounding: 'up' })).not.toThrow()
    expect(limiterOf({ ...bucket, windowMs: 3 })).toThrow('did you mean period?')
  })

  it('are needed: a name, or nothing, says what to give', () => {
    const limiterOf =
      (policy: object): (() => unknown) =>
      () =>
        createLimiter({ policies: { api: policy as never } })
    const wanted =
      'policies.api.algorithm must be an algorithm, such as gcra or tokenBucket of @sluice/limiter/edge, not "gcra"'
    expect(limiterOf({ algorithm: 'gcra', limit: 1, period: '1s' })).toThrow(wanted)
    expect(limiterOf({ algorithm: {}, limit: 1, period: '1s' })).toThrow(ConfigError)
    expect(limiterOf({ limit: 1, period: '1s' })).toThrow(
      'policies.api.algorithm must be given: an algorithm',
    )
    expect(() => createLimiter({} as never)).toThrow(
      'policies must be given: an object with a policy for each name',
    )
    expect(() => createLimiter(undefined as never)).toThrow('algorithm: gcra')
  })

  it('keep the path of a policy that cannot be kept exactly', () => {
    const make = (): unknown =>
      createLimiter({
        policies: { api: { algorithm: gcra, limit: 1, period: { calendar: 'day' } as never } },
      })
    expect(make).toThrow(
      expect.objectContaining({
        message: 'policies.api: a calendar period is not supported by gcra, only by fixed-window',
        path: ['policies', 'api', 'period'],
      }),
    )
  })

  it('leave plans from which others are made: the policy of a plan has its name', () => {
    const limiter = createNamedLimiter({
      policies: { api: { algorithm: tokenBucket, limit: 10, period: '1s', burst: 30 } },
    })
    const { plan } = receiptOf(limiter.check('ada'))!.steps[0]!.rule
    expect(policyOf(plan)).toEqual({ algorithm: 'token-bucket', limit: 10, period: '1s', burst: 30 })
    expect(shareOf(plan, 0.5)).toMatchObject({ limit: 5, capacity: 15, kind: plan.kind })
    const day = planOf({ algorithm: 'fixed-window', limit: 10, period: { calendar: 'day' } })
    expect(shareOf(day, 0.25)).toMatchObject({ limit: 2, kind: day.kind })
  })

  it('may be one’s own', () => {
    const generous: typeof fixedWindow = {
      ...fixedWindow,
      name: 'generous',
      plan: (policy) => ({
        ...fixedWindow.plan({ ...policy, limit: policy.limit + 1 }),
        algorithm: generous,
      }),
    }
    const limiter = createLimiter({
      store: new MapStore({ clock: new FakeClock() }),
      policies: { api: { algorithm: generous, limit: 1, period: '1m' } },
    })
    expect([1, 2, 3].map(() => limiter.check('ada').allowed)).toEqual([true, true, false])
  })
})
