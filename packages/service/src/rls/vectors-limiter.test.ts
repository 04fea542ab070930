import { afterEach, describe, expect, test } from 'vitest'
import { entries, type GrpcBench, grpcBench, type Hits, hitsOf } from './vectors.test-support.ts'

const opened: GrpcBench[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

/** @param nowS seconds since the epoch */
async function open(
  descriptors: string,
  nowS = 1_234,
  options: Parameters<typeof grpcBench>[1] = {},
): Promise<GrpcBench> {
  const service = await grpcBench(`domain: domain\ndescriptors:\n${descriptors}`, options)
  opened.push(service)
  service.clock.set(nowS * 1_000_000)
  return service
}

const rule = (key: string, limit: number, unit: string, more = ''): string =>
  `  - { key: ${key}, ${more}rate_limit: { unit: ${unit}, requests_per_unit: ${limit} } }\n`

/** Uses so much, then asks for `addend`: what its status is, and what that adds to the metrics. */
async function after(
  used: number,
  addend: number,
  limit: number,
  more = '',
): Promise<readonly [string, number, Hits]> {
  const service = await open(rule('key', limit, 'hour', more))
  const ask = (value: number): ReturnType<GrpcBench['shouldRateLimit']> =>
    service.shouldRateLimit({
      domain: 'domain',
      descriptors: [{ ...entries('key', 'v'), hits_addend: { value } }],
    })
  if (used > 0) await ask(used)
  const before = (await hitsOf(service))['domain.key'] ?? {}
  const { statuses } = await ask(addend)
  const now = (await hitsOf(service))['domain.key']!
  const added = Object.fromEntries(
    Object.entries(now)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  )
  return [statuses[0]!.code, statuses[0]!.limit_remaining, added]
}

describe('test/redis/fixed_cache_impl_test.go, test/limiter/base_limiter_test.go', () => {
  test('now 1234, limit 10/s, five used', async () => {
    const service = await open(rule('key', 10, 'second'))
    const asked = { domain: 'domain', descriptors: [entries('key', 'value')] }
    for (let i = 0; i < 4; i++) await service.shouldRateLimit(asked)
    const { statuses } = await service.shouldRateLimit(asked)
    expect(statuses[0]).toMatchObject({
      code: 'OK',
      limit_remaining: 5,
      duration_until_reset: { seconds: 1 },
    })
    expect((await hitsOf(service))['domain.key']).toEqual({ total_hits: 5, within_limit: 5 })
  })

  test('one descriptor without a limit, one of 10/min that is over', async () => {
    const service = await open(
      '  - key: key2\n    descriptors:\n      - { key: subkey2, rate_limit: { unit: minute, requests_per_unit: 10 } }\n',
    )
    const own = entries('key2', 'value2', 'subkey2', 'subvalue2')
    const asked = { domain: 'domain', descriptors: [entries('key', 'value'), own] }
    for (let i = 0; i < 10; i++) await service.shouldRateLimit(asked)
    const { overall_code, statuses } = await service.shouldRateLimit(asked)
    expect(overall_code).toBe('OVER_LIMIT')
    expect(statuses.map(({ code, current_limit }) => [code, current_limit === null])).toEqual([
      ['OK', true],
      ['OVER_LIMIT', false],
    ])
    expect((await hitsOf(service))['domain.key2.subkey2']).toMatchObject({
      total_hits: 11,
      over_limit: 1,
      within_limit: 10,
    })
  })

  test('an hour that is looked at, and a day that is hit, both over', async () => {
    const service = await open(rule('hour', 10, 'hour') + rule('day', 10, 'day'), 1_000_000)
    const ask = (hour: number, day: number): ReturnType<GrpcBench['shouldRateLimit']> =>
      service.shouldRateLimit({
        domain: 'domain',
        descriptors: [
          { ...entries('hour', 'v'), hits_addend: { value: hour } },
          { ...entries('day', 'v'), hits_addend: { value: day } },
        ],
      })
    await ask(0, 0)
    await ask(11, 12)
    const { overall_code, statuses } = await ask(0, 1)
    expect([overall_code, statuses.map(({ code }) => code)]).toEqual([
      'OVER_LIMIT',
      ['OVER_LIMIT', 'OVER_LIMIT'],
    ])
    expect(statuses.map(({ duration_until_reset }) => duration_until_reset?.seconds)).toEqual([
      3_600 - (1_000_000 % 3_600),
      86_400 - (1_000_000 % 86_400),
    ])
  })

  // What a refused request would have charged is not charged, so all of it is over, and none of it near.
  test.each<
    [string, [used: number, addend: number, limit: number, more?: string], readonly [string, number, Hits]]
  >([
    ['before 2, after 6, limit 10', [2, 4, 10], ['OK', 4, { total_hits: 4, within_limit: 4 }]],
    ['before 2, after 7, limit 5', [2, 5, 5], ['OVER_LIMIT', 0, { total_hits: 5, over_limit: 5 }]],
    [
      'before 2, after 7, limit 5, in shadow mode',
      [2, 5, 5, 'shadow_mode: true, '],
      ['OK', 0, { total_hits: 5, over_limit: 5, shadow_mode: 5 }],
    ],
    ['ratio 0.8 of 15: after 11', [10, 1, 15], ['OK', 4, { total_hits: 1, within_limit: 1 }]],
    ['ratio 0.8 of 15: after 13', [12, 1, 15], ['OK', 2, { total_hits: 1, within_limit: 1, near_limit: 1 }]],
    ['ratio 0.8 of 15: after 16', [15, 1, 15], ['OVER_LIMIT', 0, { total_hits: 1, over_limit: 1 }]],
    ['addend 3, limit 20, after 5', [2, 3, 20], ['OK', 15, { total_hits: 3, within_limit: 3 }]],
    ['addend 2, limit 8, after 7', [5, 2, 8], ['OK', 1, { total_hits: 2, within_limit: 2, near_limit: 1 }]],
    [
      'addend 3, limit 20, after 19',
      [16, 3, 20],
      ['OK', 1, { total_hits: 3, within_limit: 3, near_limit: 3 }],
    ],
    ['addend 3, limit 20, after 22', [19, 3, 20], ['OVER_LIMIT', 0, { total_hits: 3, over_limit: 3 }]],
    ['addend 7, limit 20, after 22', [15, 7, 20], ['OVER_LIMIT', 0, { total_hits: 7, over_limit: 7 }]],
    ['addend 3, limit 10, after 13', [10, 3, 10], ['OVER_LIMIT', 0, { total_hits: 3, over_limit: 3 }]],
  ])('%s', async (_name, [used, addend, limit, more], expected) => {
    expect(await after(used, addend, limit, more)).toEqual(expected)
  })

  test.each<[string, number, number, readonly [string, number][]]>([
    [
      'GET 10 and 10, addend 1',
      10,
      1,
      [
        ['OK', 4],
        ['OK', 3],
      ],
    ],
    [
      'GET 11 and 11, addend 2',
      11,
      2,
      [
        ['OK', 2],
        ['OK', 1],
      ],
    ],
    [
      'GET 13 and 13, addend 2',
      13,
      2,
      [
        ['OK', 2],
        ['OVER_LIMIT', 0],
      ],
    ],
  ])('stop-increment is how it always is: limits 15 and 14, %s', async (_name, used, addend, expected) => {
    const service = await open(rule('a', 15, 'hour') + rule('b', 14, 'hour'))
    const asked = { domain: 'domain', descriptors: [entries('a', 'v'), entries('b', 'v')] }
    await service.shouldRateLimit({ ...asked, hits_addend: used })
    const { statuses } = await service.shouldRateLimit({ ...asked, hits_addend: addend })
    expect(statuses.map(({ code, limit_remaining }) => [code, limit_remaining])).toEqual(expected)
  })
})
