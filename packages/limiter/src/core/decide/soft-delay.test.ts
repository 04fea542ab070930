import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLimiter, type LimiterPolicy } from '../../limiter.ts'
import { MemoryStore } from '../../stores/memory.ts'
import { SwapStore } from '../../stores/trials/swap-store.test-support.ts'
import { FakeClock } from '../../testing.ts'
import { ConfigError } from '../errors.ts'
import { type Policy, planOf } from './algorithms.ts'
import { ruleErrors } from './rule.ts'

const DELAY = { onLimit: 'delay', soft: 0.8 } as const

function bench(policy: LimiterPolicy) {
  const clock = new FakeClock()
  const limiter = createLimiter({ policies: { p: policy }, store: new MemoryStore({ clock }) })
  const ask = (cost = 1) => limiter.check('ada', { cost })
  return {
    clock,
    limiter,
    ask,
    delays: (count: number) => Array.from({ length: count }, () => ask().delayMs),
  }
}

/** Every algorithm with a rate, with each combination of its choices. */
const RATES = variantsOf((name) => !['leaky-bucket', 'concurrency'].includes(name))

describe('OF-62 requests past a soft threshold wait', () => {
  it.each(RATES)('one interval more for each unit past it: $name', ({ policy }) => {
    const { ask, delays } = bench({ ...policy, limit: 10, period: '10s', ...DELAY })
    expect(delays(10)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1_000, 2_000])
    expect(ask()).toMatchObject({ allowed: false, delayMs: 0 })
  })

  it('is what each policy says of itself, and the longest counts', () => {
    const slow = { algorithm: 'gcra', limit: 10, period: '1m', soft: 0.5, onLimit: 'delay' } as const
    const { limiter } = { limiter: createLimiter({ policies: { slow, fast: { ...slow, period: '10s' } } }) }
    const { delayMs, policies } = limiter.check('ada', { cost: 7 })
    expect([delayMs, ...policies.map((own) => own.delayMs)]).toEqual([12_000, 12_000, 2_000])
  })

  it('a charge given back shortens the wait of those who come later', () => {
    const { ask, limiter, delays } = bench({ algorithm: 'gcra', limit: 10, period: '10s', ...DELAY })
    delays(8)
    const ninth = ask()
    limiter.refund(ninth)
    expect(ask().delayMs).toBe(1_000)
    limiter.refund(ninth) // once
    expect(ask().delayMs).toBe(2_000)
  })

  it('none in shadow, at cost 0, or in an admission without the store', () => {
    const policy = { algorithm: 'fixed-window', limit: 10, period: '10s', ...DELAY } as const
    expect(
      bench({ ...policy, shadow: true })
        .delays(10)
        .at(-1),
    ).toBe(0)
    const { ask, delays } = bench(policy)
    delays(10)
    expect(ask(0)).toMatchObject({ allowed: true, delayMs: 0 })
  })

  it.each<[string, Policy, object, string, RegExp]>([
    ['soft', { algorithm: 'gcra', limit: 1, period: '1s' }, { soft: undefined }, 'onLimit', /without soft/],
    ['a soft that is all', { algorithm: 'gcra', limit: 1, period: '1s' }, { soft: 1 }, 'soft', /ever wait/],
    ['a rate', { algorithm: 'concurrency', limit: 1, period: '1s' }, {}, 'onLimit', /no rate/],
    [
      'a fixed length',
      { algorithm: 'fixed-window', limit: 1, period: { calendar: 'day' } },
      {},
      'onLimit',
      /no fixed length/,
    ],
    [
      'every request',
      { algorithm: 'gcra', limit: 9, period: '1s' },
      { prefetch: 3 },
      'prefetch',
      /see every/,
    ],
  ])('needs %s', (_, policy, more, field, message) => {
    const [error] = ruleErrors(planOf(policy), { ...DELAY, ...more })
    expect(error).toBeInstanceOf(ConfigError)
    expect([error!.path, error!.message]).toEqual([[field], expect.stringMatching(message)])
  })
})

/** Requests of some cost, each so many milliseconds after the one before. */
const requests = fc.array(
  fc.record({ after: fc.nat({ max: 3_000 }), cost: fc.nat({ max: 4 }), back: fc.boolean() }),
  { maxLength: 60 },
)

describe('OF-62 any run of requests', () => {
  it.each(['token-bucket', 'gcra'] as const)(
    'goes on evenly: at its turn a bucket as deep as the threshold has room for each (%s)',
    (algorithm) => {
      const run = fc.property(requests, fc.integer({ min: 1, max: 30 }), (asked, limit) => {
        const soft = 0.5
        const { clock, ask } = bench({ algorithm, limit, period: '10s', soft, onLimit: 'delay' })
        const depth = Math.round(soft * limit)
        let level = 0 // of an independent bucket of that depth, which sees each request when its turn comes
        let seen = clock.now() / 1_000
        for (const { after, cost } of asked) {
          clock.advance(after)
          const decision = ask(cost)
          if (!decision.allowed || cost === 0) continue
          const turn = clock.now() / 1_000 + decision.delayMs
          expect(turn).toBeGreaterThanOrEqual(seen) // nobody overtakes
          level = Math.max(0, level - ((turn - seen) * limit) / 10_000) + cost
          seen = turn
          if (cost <= depth) expect(level).toBeLessThanOrEqual(depth + 1e-6)
          else level = depth // what is larger than the bucket waits until its rest fits
          // Nor does anybody wait longer than that: up to a microsecond for each rounding.
          if (decision.delayMs > 0) expect(level).toBeGreaterThan(depth - (0.003 * limit) / 10_000 - 1e-6)
        }
      })
      fc.assert(run, { numRuns: 300 })
    },
  )

  it.each(RATES)('is admitted as without delay, and looks as it is: $name', async ({ policy }) => {
    const run = fc.asyncProperty(
      requests,
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      async (asked, soft) => {
        const own = { ...policy, limit: 7, period: '10s' }
        const plain = bench(own)
        const late = bench({ ...own, soft, onLimit: 'delay' })
        const swap = createLimiter({
          policies: { p: { ...own, soft, onLimit: 'delay' } },
          store: new SwapStore(late.clock),
        })
        for (const { after, cost, back } of asked) {
          plain.clock.advance(after)
          late.clock.advance(after)
          const looked = late.limiter.peek('ada', { cost })
          const [expected, decision] = [plain.ask(cost), late.ask(cost)]
          const { delayMs, ...figures } = JSON.parse(JSON.stringify(decision))
          expect({ ...figures, policies: [] }).toEqual({
            ...JSON.parse(JSON.stringify({ ...expected, delayMs: undefined })),
            policies: [],
          })
          expect(looked.delayMs).toBe(delayMs)
          expect(JSON.stringify(await swap.check('ada', { cost }))).toBe(JSON.stringify(decision))
          if (!back) continue
          plain.limiter.refund(expected)
          late.limiter.refund(decision)
          await swap.reset('ada')
          late.limiter.reset('ada')
          plain.limiter.reset('ada')
        }
      },
    )
    await fc.assert(run, { numRuns: 60 })
  })
})
