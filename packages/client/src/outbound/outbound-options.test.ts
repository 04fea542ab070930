import { createLimiter, MemoryStore } from '@sluice/limiter'
import { createPipeline } from '@sluice/limiter/pipeline'
import { compile } from '@sluice/limiter/rules'
import { describe, expect, it } from 'vitest'
import { outboundAdapter } from '../axios.ts'
import { retrying } from '../retry/retrying.ts'
import { createOutbound, outbound } from './outbound.ts'
import type { OutboundOptions } from './outbound-options.ts'
import { fakeWorld } from './world.test-support.ts'

const API = 'https://api.example.com'
const limiter = createLimiter({
  policies: { budget: { algorithm: 'token-bucket', limit: 5, period: '1m', burst: 1 } },
})

const rules = compile([
  {
    name: 'outbound',
    descriptors: [],
    limits: [
      {
        name: 'budget',
        key: [],
        limit: { limit: 5, period: '1m' },
        algorithm: 'gcra',
        cost: 1,
        onLimit: 'deny',
        mode: 'enforce',
        onStoreError: 'open',
        onMissingKey: 'skip',
        exempt: [],
        overrides: [],
        replaces: [],
      },
    ],
  },
])
const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })

describe('options that are wrong', () => {
  it.each<[string, unknown]>([
    ['no option is named "onLimit.budgt"; did you mean budget?', [{ limiter, onLimit: { budgt: 'reject' } }]],
    [
      'no option is named "onLimit.budgt"; did you mean budget?',
      [{ pipeline, onLimit: { budgt: 'reject' } }],
    ],
    ['fallback must be given, for onLimit: degrade', [{ limiter, onLimit: 'degrade' }]],
    ['fallback must be given, for onLimit: degrade', [{ limiter, onLimit: { budget: 'degrade' } }]],
    ...['localhost:8080', 'https://api.example.com/v1', 'api.example.com'].map(
      (origin): [string, unknown] => [
        `origin must be such as https://api.example.com, without a path (that is the option path), not "${origin}"`,
        [{ origin }],
      ],
    ),
  ])('%s', (message, destinations) => {
    const options = { destinations } as OutboundOptions
    expect(() => createOutbound(options)).toThrow(
      expect.objectContaining({ message, code: 'ERR_SLUICE_CONFIG' }),
    )
  })

  it('says that answers are read by a function, or not at all', () => {
    expect(() => createOutbound({ read: true as never })).toThrow(
      'read must be false or a function, not true',
    )
  })

  it('says what is missing that sends', () => {
    expect(() => outbound(undefined as never)).toThrow('fetch must be given: a function')
    expect(() => outbound({ destinations: [] } as never)).toThrow('fetch must be a function, not an object')
    expect(() => retrying(undefined as never)).toThrow('fetch must be given: a function')
    expect(() => outboundAdapter(undefined as never)).toThrow('adapter must be given: a function')
  })

  it('says what is wrong with a job', async () => {
    const run = createOutbound().run as (job?: unknown, options?: unknown) => Promise<unknown>
    await expect(run(undefined, { url: API })).rejects.toThrow('job must be a function')
    await expect(run(({ answered }: never) => (answered as () => void)(), { url: API })).rejects.toThrow(
      'an answer must have a status, and headers as an object',
    )
  })
})

it('a function that reads answers may fail: its call does, and the next one finds out instead', async () => {
  const { limited, run } = fakeWorld()
  let reads = 0
  const { outbound: own } = limited({
    read() {
      if (++reads === 2) throw new RangeError('mine')
      return reads === 1 ? { limits: [], refused: true, retryAfterMs: 1_000 } : undefined
    },
  })
  const answers = [429, 503, 200].map((status) =>
    own.run(({ answered }) => answered({ status, headers: {} }), { url: API }).catch(String),
  )
  await run(5_000)
  expect(await Promise.all(answers)).toEqual([undefined, 'RangeError: mine', undefined])
})

it.each([[0], [-1], [Number.NaN], [Number.POSITIVE_INFINITY]])('a weight of %d is none', async (weight) => {
  const { limited } = fakeWorld()
  await expect(limited({ weightOf: () => weight })(API)).rejects.toThrow(
    `weightOf must give a number above 0, not ${weight}`,
  )
})

describe('maxWaitMs', () => {
  it('of 0 lets no call wait; without end lets it wait until its turn', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const destinations = [
      { limiter: limiterOf({ rate: { algorithm: 'token-bucket', limit: 1, period: '1h', burst: 1 } }) },
    ]
    const impatient = limited({ destinations, maxWaitMs: 0 })
    await impatient(API)
    await expect(impatient(API)).rejects.toMatchObject({ reason: 'wait', retryAfterMs: 3_600_000 })
    const patient = limited({ destinations, maxWaitMs: Number.POSITIVE_INFINITY })(API)
    await run(3_600_000)
    expect((await patient).status).toBe(200)
    expect(arrivals.map(({ at }) => at)).toEqual([0, 3_600_000])
  })
})
