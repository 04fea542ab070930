import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { entries, type GrpcBench, grpcBench } from './calls.test-support.ts'

const opened: GrpcBench[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open(rulebook: string, options: Parameters<typeof grpcBench>[1] = {}): Promise<GrpcBench> {
  const service = await grpcBench(rulebook, options)
  opened.push(service)
  service.clock.set(1_234_000_000) // 34 s into a minute
  return service
}

const MINUTE = `
domain: d
descriptors:
  - { key: user, rate_limit: { name: per-user, unit: minute, requests_per_unit: 5 } }
  - { key: tokens, rate_limit: { unit: hour, requests_per_unit: 10 } }
  - { key: free, rate_limit: { unlimited: true } }
`

describe('an answer', () => {
  test('repeats the limit, what remains, and whole seconds until it is there again', async () => {
    const { shouldRateLimit } = await open(MINUTE)
    const answer = await shouldRateLimit({
      domain: 'd',
      descriptors: [entries('user', 'ada'), entries('no', 'rule'), entries('free', 'x')],
    })
    expect(answer).toMatchObject({
      overall_code: 'OK',
      statuses: [
        {
          code: 'OK',
          current_limit: { name: 'per-user', requests_per_unit: 5, unit: 'MINUTE', unit_multiplier: null },
          limit_remaining: 4,
          duration_until_reset: { seconds: 26, nanos: 0 },
        },
        { code: 'OK', current_limit: null, limit_remaining: 0, duration_until_reset: null },
        { code: 'OK', current_limit: null, limit_remaining: 4_294_967_295 },
      ],
    })
  })

  test('rounds waits up, as Envoy cuts off what is behind the point', async () => {
    const { shouldRateLimit, clock } = await open(
      'domain: d\ndescriptors: [{ key: k, rate_limit: { algorithm: token-bucket, unit: minute, requests_per_unit: 6 } }]',
    )
    clock.set(0)
    const asked = { domain: 'd', descriptors: [entries('k', 'v')] }
    expect((await shouldRateLimit(asked)).statuses[0]!.duration_until_reset).toEqual({
      seconds: 10,
      nanos: 0,
    })
    clock.advance(2_700)
    expect(
      (
        await shouldRateLimit({
          ...asked,
          descriptors: [{ ...entries('k', 'v'), hits_addend: { value: 0 } }],
        })
      ).statuses[0]!.duration_until_reset,
    ).toEqual({
      seconds: 8, // of 7.3
      nanos: 0,
    })
  })

  test('carries the exact Retry-After and the headers of the limit that refused', async () => {
    const { shouldRateLimit } = await open(MINUTE)
    const asked = { domain: 'd', descriptors: [entries('tokens', 'a'), entries('user', 'ada')] }
    for (let i = 0; i < 5; i++) await shouldRateLimit(asked)
    const { overall_code, statuses, response_headers_to_add } = await shouldRateLimit(asked)
    expect(overall_code).toBe('OVER_LIMIT')
    expect(statuses.map(({ code, limit_remaining }) => [code, limit_remaining])).toEqual([
      ['OK', 5], // a refused request charges nothing
      ['OVER_LIMIT', 0],
    ])
    const headers = Object.fromEntries(response_headers_to_add.map(({ key, value }) => [key, value]))
    expect(headers).toMatchObject({ 'Retry-After': '26', 'Cache-Control': 'no-store' })
    expect(headers.RateLimit).toContain('"per-user";r=0;t=26')
    expect(headers).not.toHaveProperty('Content-Type')
  })

  test.each([
    ['period: 10s', { unit: 'SECOND', unit_multiplier: { value: 10 } }],
    ['unit: minute, unit_multiplier: 2', { unit: 'MINUTE', unit_multiplier: { value: 2 } }],
    ['unit: week', { unit: 'WEEK', unit_multiplier: null }],
    ['unit: month', { unit: 'MONTH', unit_multiplier: null }],
    ['period: 2w', { unit: 'WEEK', unit_multiplier: { value: 2 } }],
    ['period: calendar-month', { unit: 'MONTH', unit_multiplier: null }],
    ['period: 1500ms', { unit: 'UNKNOWN', unit_multiplier: null }],
  ])('names the unit of %s', async (period, expected) => {
    const { shouldRateLimit } = await open(
      `domain: d\ndescriptors: [{ key: k, rate_limit: { ${period}, requests_per_unit: 3 } }]`,
    )
    const { statuses } = await shouldRateLimit({ domain: 'd', descriptors: [entries('k', 'v')] })
    expect(statuses[0]!.current_limit).toMatchObject({ requests_per_unit: 3, ...expected })
  })

  test('tells the next hop of a low priority', async () => {
    const { shouldRateLimit } = await open(
      'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 0, on_limit: deprioritize } }]',
    )
    const { overall_code, request_headers_to_add } = await shouldRateLimit({
      domain: 'd',
      descriptors: [entries('k', 'v')],
    })
    expect([overall_code, request_headers_to_add]).toMatchObject([
      'OK',
      [{ key: 'Sluice-Priority', value: 'low' }],
    ])
  })
})

describe('hits_addend', () => {
  const remaining = async (
    { shouldRateLimit }: GrpcBench,
    own: object,
    request: object = {},
  ): Promise<readonly [string, number]> => {
    const { overall_code, statuses } = await shouldRateLimit({
      domain: 'd',
      descriptors: [{ ...entries('tokens', 'a'), ...own }],
      ...request,
    })
    return [overall_code, statuses[0]!.limit_remaining]
  }

  test('of a request counts for descriptors without one of their own; 0 is 1', async () => {
    const service = await open(MINUTE)
    expect(await remaining(service, {}, { hits_addend: 3 })).toEqual(['OK', 7])
    expect(await remaining(service, {}, { hits_addend: 0 })).toEqual(['OK', 6])
    expect(await remaining(service, { hits_addend: { value: 2 } }, { hits_addend: 3 })).toEqual(['OK', 4])
  })

  test('of a descriptor that is there and empty is 0: it looks, and charges nothing', async () => {
    const service = await open(MINUTE)
    for (let i = 0; i < 3; i++) expect(await remaining(service, { hits_addend: {} })).toEqual(['OK', 10])
    expect(await remaining(service, { hits_addend: { value: 0 } }, { hits_addend: 7 })).toEqual(['OK', 10])
  })

  test('that no limit can ever admit is over the limit, not an error that Envoy lets pass', async () => {
    const service = await open(MINUTE)
    expect(await remaining(service, { hits_addend: { value: '18446744073709551615' } })).toEqual([
      'OVER_LIMIT',
      0,
    ])
    expect(await remaining(service, {})).toEqual(['OK', 9])
  })

  test('is_negative_hits gives back, down to nothing in use and no further', async () => {
    const service = await open(MINUTE)
    expect(await remaining(service, { hits_addend: { value: 6 } })).toEqual(['OK', 4])
    expect(await remaining(service, { hits_addend: { value: 2 }, is_negative_hits: true })).toEqual(['OK', 6])
    expect(await remaining(service, { hits_addend: { value: 100 }, is_negative_hits: true })).toEqual([
      'OK',
      10,
    ])
    expect(await remaining(service, { hits_addend: { value: 10 } })).toEqual(['OK', 0])
  })

  test('without a look before, what does not fit is refused and not charged', async () => {
    const service = await open(MINUTE)
    expect(await remaining(service, { hits_addend: { value: 8 } })).toEqual(['OK', 2])
    expect(await remaining(service, { hits_addend: { value: 3 } })).toEqual(['OVER_LIMIT', 0])
    expect(await remaining(service, { hits_addend: { value: 2 } })).toEqual(['OK', 0])
  })

  test('after a look, what a response used is charged in full, and looks are refused until the debt is over', async () => {
    const service = await open(MINUTE)
    const look = (): Promise<unknown> => remaining(service, { hits_addend: { value: 0 } })
    expect(await look()).toEqual(['OK', 10])
    expect(await remaining(service, { hits_addend: { value: 8 } })).toEqual(['OK', 2])
    expect(await look()).toEqual(['OK', 2])
    expect(await remaining(service, { hits_addend: { value: 7 } })).toEqual(['OVER_LIMIT', 0]) // Envoy ignores it
    expect(await look()).toEqual(['OVER_LIMIT', 0])
    service.clock.advance(3_600_000)
    expect(await look()).toEqual(['OK', 10])
  })

  test('a look that is refused charges nothing else of the request', async () => {
    const service = await open(MINUTE)
    const both = (): ReturnType<GrpcBench['shouldRateLimit']> =>
      service.shouldRateLimit({
        domain: 'd',
        descriptors: [entries('user', 'ada'), { ...entries('tokens', 'a'), hits_addend: { value: 0 } }],
      })
    expect((await both()).statuses.map(({ limit_remaining }) => limit_remaining)).toEqual([4, 10])
    await remaining(service, { hits_addend: { value: 12 } })
    const refused = await both()
    expect([refused.overall_code, refused.statuses.map(({ code }) => code)]).toEqual([
      'OVER_LIMIT',
      ['OK', 'OVER_LIMIT'],
    ])
    expect(refused.statuses[0]!.limit_remaining).toBe(4)
  })
})

describe('a limit that the request brings', () => {
  test('is counted by its own unit', async () => {
    const { shouldRateLimit } = await open(MINUTE)
    const asked = {
      domain: 'd',
      descriptors: [{ ...entries('user', 'ada'), limit: { requests_per_unit: 2, unit: 'HOUR' } }],
    }
    const codes = []
    for (let i = 0; i < 3; i++) codes.push((await shouldRateLimit(asked)).overall_code)
    expect(codes).toEqual(['OK', 'OK', 'OVER_LIMIT'])
    expect((await shouldRateLimit(asked)).statuses[0]!.current_limit).toMatchObject({
      requests_per_unit: 2,
      unit: 'HOUR',
      name: '',
    })
  })

  test('without a unit is an error, and the service lives', async () => {
    const { shouldRateLimit } = await open(MINUTE)
    const asked = {
      domain: 'd',
      descriptors: [{ ...entries('user', 'ada'), limit: { requests_per_unit: 2 } }],
    }
    await expect(shouldRateLimit(asked)).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details:
        'descriptors[0].limit.unit is not set; it must be one of SECOND, MINUTE, HOUR, DAY, MONTH, YEAR',
    })
    expect((await shouldRateLimit({ domain: 'd', descriptors: [entries('user', 'ada')] })).overall_code).toBe(
      'OK',
    )
  })
})

describe('a request with a mistake', () => {
  let service: GrpcBench
  beforeAll(async () => {
    service = await grpcBench(MINUTE)
  })
  afterAll(() => service.close())

  test.each<[object, string]>([
    [{ descriptors: [entries('a', 'b')] }, 'rate limit domain must not be empty'],
    [{ domain: 'd' }, 'rate limit descriptor list must not be empty'],
    [
      { domain: 'd', descriptors: Array.from({ length: 129 }, () => entries('a', 'b')) },
      'descriptors has 129 elements; 128 are the most',
    ],
    [
      { domain: 'd', descriptors: [entries(...Array.from({ length: 258 }, () => 'a'))] },
      'descriptors[0].entries has 129 elements; 128 are the most',
    ],
    [
      { domain: 'd', descriptors: [entries('a', 'x'.repeat(65_537))] },
      'descriptors[0].entries[0].value has 65537 characters; 65536 are the most',
    ],
    [
      { domain: 'd', descriptors: [{ ...entries('a', 'b'), limit: { requests_per_unit: 1, unit: 9 } }] },
      'descriptors[0].limit.unit 9 is no unit of limits that requests bring',
    ],
  ])('%#: says which', async (request, details) => {
    await expect(service.shouldRateLimit(request)).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details,
    })
  })

  test('of more than a mebibyte is not read', async () => {
    const descriptors = Array.from({ length: 20 }, () => entries('a', 'x'.repeat(60_000)))
    await expect(service.shouldRateLimit({ domain: 'd', descriptors })).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
    })
  })
})

describe('health', () => {
  test.each(['', 'ratelimit', 'envoy.service.ratelimit.v3.RateLimitService'])(
    'of %j is SERVING',
    async (service) => {
      const { call } = await open(MINUTE)
      expect(await call('grpc.health.v1.Health', 'Check', { service })).toEqual({ status: 'SERVING' })
    },
  )

  test('of another service is NOT_FOUND', async () => {
    const { call } = await open(MINUTE)
    await expect(call('grpc.health.v1.Health', 'Check', { service: 'others' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    })
  })
})
