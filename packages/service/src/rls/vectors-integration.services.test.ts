import type { Store } from '@sluice/limiter'
import { afterEach, describe, expect, test } from 'vitest'
import { openStore } from '../../../cli/src/stores.ts'
import { type RedisServer, startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { application, byHeaders, type Envoy, edge, type Received, startEnvoy } from './envoy.test-support.ts'
import { type Answered, entries, fixture, type GrpcBench, grpcBench, hitsOf } from './vectors.test-support.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const MORE = ['another', 'share-threshold-test']

/** On a slow machine a Redis may take longer than its deadline: these tests are not about that. */
const PATIENT = { fallback: { deadlineMs: 30_000 }, rls: { deadlineMs: 30_000 } }

type Way = 'by gRPC' | 'through Envoy'

interface Asking {
  readonly service: GrpcBench
  /** Asks once, for descriptors of one entry each. @returns the code, and of each limit what remains and the window */
  ask(
    domain: string,
    ...pairs: readonly (readonly [string, string])[]
  ): Promise<readonly [string, ...string[]]>
}

const KEYS = ['hello', 'key1', 'key2', 'key3', 'key4', 'files', 'files_no_share']

async function open(way: Way, redis?: RedisServer): Promise<Asking> {
  const service = await grpcBench(
    fixture('basic'),
    redis === undefined ? {} : { store: await storeAt(redis), ...PATIENT },
  )
  closing.push(() => service.close())
  for (const name of MORE) await service.folder.write(`${name}.yaml`, fixture(name))
  await service.rules.reload()
  service.clock.set(1_700_000_000_000_000)
  if (way === 'by gRPC') {
    return {
      service,
      ask: async (domain, ...pairs) =>
        shown(await service.shouldRateLimit({ domain, descriptors: pairs.map((pair) => entries(...pair)) })),
    }
  }
  const app = await application('app')
  closing.push(app.close)
  const [, port] = service.address.split(':')
  const envoys = new Map<string, Envoy>()
  const envoyFor = async (domain: string): Promise<Envoy> => {
    const known = envoys.get(domain)
    if (known !== undefined) return known
    const envoy = await startEnvoy(
      edge({
        domain,
        grpcPort: Number(port),
        applications: { app: app.port },
        filter: { timeout: '5s', enable_x_ratelimit_headers: 'DRAFT_VERSION_03' },
        routes: [byHeaders('/', ...KEYS.map((key) => [key]))],
      }),
    )
    closing.push(envoy.stop)
    envoys.set(domain, envoy)
    return envoy
  }
  return {
    service,
    ask: async (domain, ...pairs) => seen(await (await envoyFor(domain)).get('/', Object.fromEntries(pairs))),
  }
}

async function storeAt({ port }: RedisServer): Promise<Store> {
  const store = await openStore(`redis://127.0.0.1:${port}`)
  closing.push(async () => store.close())
  return store
}

/** As Envoy tells it: the least that remains, `REMAINING of LIMIT/WINDOW`, and nothing where there is no limit. */
function shown({ overall_code, statuses }: Answered): readonly [string, ...string[]] {
  const limits = statuses.filter(({ current_limit }) => current_limit !== null)
  const least = limits.toSorted((a, b) => a.limit_remaining - b.limit_remaining)[0]
  if (least === undefined) return [overall_code]
  const { requests_per_unit, unit } = least.current_limit!
  const seconds = { SECOND: 1, MINUTE: 60, HOUR: 3_600, DAY: 86_400 }[unit]
  return [overall_code, `${least.limit_remaining} of ${requests_per_unit} in ${seconds} s`]
}

function seen({ status, headers }: Received): readonly [string, ...string[]] {
  const code = status === 200 ? 'OK' : status === 429 ? 'OVER_LIMIT' : String(status)
  const limit = headers['x-ratelimit-limit']
  if (limit === undefined) return [code]
  const [own = ''] = String(limit).split(',')
  const seconds = new RegExp(`, ${own};w=(\\d+)`).exec(String(limit))?.[1]
  return [code, `${headers['x-ratelimit-remaining']} of ${own} in ${seconds} s`]
}

describe.each<Way>(['by gRPC', 'through Envoy'])('test/integration of envoyproxy/ratelimit, %s', (way) => {
  test('a domain that is not configured: OK, without a limit', async () => {
    const { ask } = await open(way)
    expect(await ask('foo', ['hello', 'world'])).toEqual(['OK'])
  })

  test('basic, key1=foo: 50 a second, 49 left, counted once', async () => {
    const { ask, service } = await open(way)
    expect(await ask('basic', ['key1', 'foo'])).toEqual(['OK', '49 of 50 in 1 s'])
    expect((await hitsOf(service))['basic.key1']).toEqual({ total_hits: 1, within_limit: 1 })
  })

  test.each(['memory', 'Redis'])(
    'another, key2 × 25 on %s: 20 a minute pass, the rest are over',
    async (store) => {
      const redis = store === 'Redis' ? await startRedis() : undefined
      if (redis !== undefined) closing.push(redis.stop)
      const { ask, service } = await open(way, redis)
      if (redis !== undefined) await redisMinute(15_000)
      for (let i = 0; i < 25; i++) {
        expect(await ask('another', ['key2', 'value'])).toEqual(
          i < 20 ? ['OK', `${19 - i} of 20 in 60 s`] : ['OVER_LIMIT', '0 of 20 in 60 s'],
        )
      }
      expect((await hitsOf(service))['another.key2']).toMatchObject({ total_hits: 25, over_limit: 5 })
    },
  )

  test('another, key2 and key3 × 15: over from the 11th, and key2 keeps what is left', async () => {
    const { ask, service } = await open(way)
    for (let i = 0; i < 15; i++) {
      const [code, limit] = await ask('another', ['key2', 'a'], ['key3', 'b'])
      expect([code, limit]).toEqual(
        i < 10 ? ['OK', `${9 - i} of 10 in 3600 s`] : ['OVER_LIMIT', '0 of 10 in 3600 s'],
      )
    }
    expect(await ask('another', ['key2', 'a'])).toEqual(['OK', '9 of 20 in 60 s'])
    expect((await hitsOf(service))['another.key3']).toMatchObject({ over_limit: 5 })
    expect((await hitsOf(service))['another.key2']?.over_limit ?? 0).toBe(0)
  })

  test('domain reload: without a limit until its file is there, with one after, without one when it is removed', async () => {
    const { ask, service } = await open(way)
    expect(await ask('reload', ['key1', 'foo'])).toEqual(['OK'])
    await service.folder.write('reload.yaml', fixture('reload'))
    expect((await service.rules.reload()).result).toBe('changed')
    expect(await ask('reload', ['key1', 'foo'])).toEqual(['OK', '49 of 50 in 1 s'])
    await service.folder.write(
      'reload.yaml',
      'domain: unused\ndescriptors: [{ key: k, rate_limit: { unlimited: true } }]',
    )
    expect((await service.rules.reload()).result).toBe('changed')
    expect(await ask('reload', ['key1', 'foo'])).toEqual(['OK'])
  })

  test('share-threshold-test: ten for all files, or ten for each', async () => {
    const { ask } = await open(way)
    for (let i = 0; i < 10; i++) await ask('share-threshold-test', ['files', 'files/a.pdf'])
    expect(await ask('share-threshold-test', ['files', 'files/b.csv'])).toEqual([
      'OVER_LIMIT',
      '0 of 10 in 3600 s',
    ])
    for (let i = 0; i < 10; i++)
      expect(await ask('share-threshold-test', ['files_no_share', `files_no_share/${i}`])).toEqual([
        'OK',
        '9 of 10 in 3600 s',
      ])
  })
})

test('another, key4 twice, two seconds apart: the second has less time until the reset', async () => {
  const { service } = await open('by gRPC')
  const reset = async (): Promise<number> => {
    const { statuses } = await service.shouldRateLimit({
      domain: 'another',
      descriptors: [entries('key4', 'a')],
    })
    return statuses[0]!.duration_until_reset!.seconds
  }
  const before = await reset()
  service.clock.advance(2_000)
  expect(await reset()).toBe(before - 2)
})

/** Windows of Redis are of its own clock: waits until so many milliseconds of its minute are left. */
async function redisMinute(ms: number): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < ms) await new Promise((resolve) => setTimeout(resolve, left + 50))
}
