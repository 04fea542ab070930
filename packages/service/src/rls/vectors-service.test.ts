import { afterEach, describe, expect, test } from 'vitest'
import { entries, type GrpcBench, grpcBench } from './vectors.test-support.ts'

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

describe('test/service/ratelimit_test.go', () => {
  test('TestService: over if any descriptor is; a bad reload keeps the rules', async () => {
    const service = await open(rule('a', 1, 'hour') + rule('b', 9, 'hour'))
    const asked = { domain: 'domain', descriptors: [entries('a', 'v'), entries('b', 'v'), entries('c', 'v')] }
    expect((await service.shouldRateLimit(asked)).overall_code).toBe('OK')
    await service.folder.write('rules.yaml', 'domain: ""')
    expect((await service.rules.reload()).result).toBe('refused')
    const { overall_code, statuses } = await service.shouldRateLimit(asked)
    expect([overall_code, statuses.map(({ code }) => code)]).toEqual([
      'OVER_LIMIT',
      ['OVER_LIMIT', 'OK', 'OK'],
    ])
    const { body } = await service.admin.inject({ method: 'GET', url: '/metrics' })
    expect(body).toContain('ratelimit_service_config_load_success 1')
    expect(body).toContain('ratelimit_service_config_load_error 1')
  })

  test('EmptyDomain, EmptyDescriptors: errors in plain words, and counted', async () => {
    const service = await open(rule('a', 1, 'hour'))
    await expect(service.shouldRateLimit({ descriptors: [entries('a', 'v')] })).rejects.toThrow(
      'rate limit domain must not be empty',
    )
    await expect(service.shouldRateLimit({ domain: 'domain' })).rejects.toThrow(
      'rate limit descriptor list must not be empty',
    )
    const { body } = await service.admin.inject({ method: 'GET', url: '/metrics' })
    expect(body).toContain('ratelimit_service_should_rate_limit_error{err_type="service_error"} 2')
  })

  test('Unlimited: 2^32 − 1 remain, beside a limit and none', async () => {
    const service = await open(`${rule('a', 5, 'hour')}  - { key: free, rate_limit: { unlimited: true } }\n`)
    const { statuses } = await service.shouldRateLimit({
      domain: 'domain',
      descriptors: [entries('a', 'v'), entries('free', 'v'), entries('c', 'v')],
    })
    expect(
      statuses.map(({ limit_remaining, current_limit }) => [limit_remaining, current_limit !== null]),
    ).toEqual([
      [4, true],
      [4_294_967_295, false],
      [0, false],
    ])
  })

  test('GlobalShadowMode: the overall code alone is OK, and that is counted', async () => {
    const service = await open(rule('a', 1, 'hour'), 1_234, { rls: { shadow: true } })
    const asked = { domain: 'domain', descriptors: [entries('a', 'v')] }
    await service.shouldRateLimit(asked)
    const { overall_code, statuses } = await service.shouldRateLimit(asked)
    expect([overall_code, statuses[0]!.code, statuses[0]!.limit_remaining]).toEqual(['OK', 'OVER_LIMIT', 0])
    const { body } = await service.admin.inject({ method: 'GET', url: '/metrics' })
    expect(body).toContain('ratelimit_service_global_shadow_mode 1')
  })

  test('RuleShadowMode: its status is OK; MixedRuleShadowMode: another limit still refuses', async () => {
    const service = await open(rule('a', 1, 'hour', 'shadow_mode: true, ') + rule('b', 2, 'hour'))
    const shadow = entries('a', 'v')
    const codesOf = async (): Promise<unknown> => {
      const { overall_code, statuses } = await service.shouldRateLimit({
        domain: 'domain',
        descriptors: [shadow, entries('b', 'v')],
      })
      return [overall_code, ...statuses.map(({ code }) => code)]
    }
    expect(await codesOf()).toEqual(['OK', 'OK', 'OK'])
    expect(await codesOf()).toEqual(['OK', 'OK', 'OK'])
    expect(await codesOf()).toEqual(['OVER_LIMIT', 'OK', 'OVER_LIMIT'])
  })

  const quotas =
    rule('a', 1, 'hour', 'quota_mode: true, ') +
    rule('b', 2, 'hour', 'quota_mode: true, ') +
    rule('c', 3, 'hour')
  const run = async (service: GrpcBench, ...keys: string[]): Promise<unknown[]> => {
    const found = []
    for (let i = 0; i < 3; i++) {
      const { overall_code, statuses } = await service.shouldRateLimit({
        domain: 'domain',
        descriptors: keys.map((key) => entries(key, 'v')),
      })
      found.push([overall_code, ...statuses.map(({ code }) => code)].join(' '))
    }
    return found
  }

  test('per-descriptor quota mode: some over is OK, all over is over', async () => {
    expect(await run(await open(quotas), 'a', 'b')).toEqual([
      'OK OK OK',
      'OK OVER_LIMIT OK',
      'OVER_LIMIT OVER_LIMIT OVER_LIMIT',
    ])
  })

  test('a real limit and a quota: the real one refuses alone, and so does the only quota', async () => {
    const service = await open(`${quotas}${rule('d', 1, 'hour')}`)
    expect(await run(service, 'd', 'b')).toEqual([
      'OK OK OK',
      'OVER_LIMIT OVER_LIMIT OK',
      'OVER_LIMIT OVER_LIMIT OK',
    ])
    expect(await run(service, 'c', 'a')).toEqual([
      'OK OK OK',
      'OVER_LIMIT OK OVER_LIMIT',
      'OVER_LIMIT OK OVER_LIMIT',
    ])
  })

  test('global quota mode: every limit is one; descriptors without a limit do not count', async () => {
    const service = await open(rule('a', 1, 'hour') + rule('b', 2, 'hour'), 1_234, { rls: { quota: true } })
    expect(await run(service, 'a', 'b', 'none')).toEqual([
      'OK OK OK OK',
      'OK OVER_LIMIT OK OK',
      'OVER_LIMIT OVER_LIMIT OVER_LIMIT OK',
    ])
  })

  test.each([
    [{ limit: 'RateLimit-Limit', remaining: 'RateLimit-Remaining', reset: 'RateLimit-Reset' }],
    [{ limit: 'A', remaining: 'B', reset: 'C' }],
  ])('headers by the names %j are those of the most restrictive limit; now 2222: reset 58', async (names) => {
    const service = await open(rule('a', 10, 'minute') + rule('b', 5, 'minute'), 2_222, {
      rls: { limitHeaders: names },
    })
    const { response_headers_to_add } = await service.shouldRateLimit({
      domain: 'domain',
      descriptors: [entries('a', 'v'), entries('b', 'v')],
    })
    const headers = Object.fromEntries(response_headers_to_add.map(({ key, value }) => [key, value]))
    expect([headers[names.limit], headers[names.remaining], headers[names.reset]]).toEqual(['5', '4', '58'])
  })

  test('metadata of descriptors that passed comes back; of two values the first stays', async () => {
    const service = await open(
      `  - { key: a, metadata: { pool: { name: first, a: 1 } }, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - { key: b, metadata: { pool: { name: second, b: [true, null] } }, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - { key: c, metadata: { none: x }, rate_limit: { unit: hour, requests_per_unit: 0 } }
`,
      1_234,
      { rls: { dynamicMetadata: true } },
    )
    const { body } = await service.http.inject({
      method: 'POST',
      url: '/json',
      payload: JSON.stringify({
        domain: 'domain',
        hitsAddend: 2,
        descriptors: [entries('a', 'v'), { ...entries('b', 'w'), hitsAddend: '3' }, entries('c', 'x')],
      }),
    })
    expect(JSON.parse(body).dynamicMetadata).toEqual({
      domain: 'domain',
      hitsAddend: 2,
      descriptors: [{ entries: ['a=v'] }, { entries: ['b=w'], hitsAddend: 3 }, { entries: ['c=x'] }],
      metadata: { pool: { name: 'first', a: 1, b: [true, null] } },
    })
    const { dynamic_metadata } = await service.shouldRateLimit({
      domain: 'domain',
      descriptors: [entries('a', 'v')],
    })
    const metadata = dynamic_metadata.fields.find(({ key }: { key: string }) => key === 'metadata')
    expect(metadata.value.struct_value.fields).toMatchObject([
      {
        key: 'pool',
        value: { struct_value: { fields: [{ key: 'name', value: { string_value: 'first' } }, {}] } },
      },
    ])
  })
})

describe('test/server/server_impl_test.go: TestJsonHandler', () => {
  const json = async (
    service: GrpcBench,
    payload: string,
    method: 'POST' | 'PUT' = 'POST',
  ): Promise<readonly [number, string]> => {
    const { statusCode, body } = await service.http.inject({ method, url: '/json', payload })
    return [statusCode, body]
  }

  test('200 and 429 as JSON in camel case, 400 for a mistake, whatever the body is said to be', async () => {
    const service = await open(rule('a', 1, 'hour'))
    const asked = JSON.stringify({ domain: 'domain', descriptors: [entries('a', 'v')] })
    const [status, body] = await json(service, asked)
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      {
        overallCode: 'OK',
        statuses: [
          { code: 'OK', currentLimit: { requestsPerUnit: 1, unit: 'HOUR' }, durationUntilReset: '2366s' },
        ],
      },
    ])
    expect(JSON.parse(body).statuses[0]).not.toHaveProperty('limitRemaining')
    expect((await json(service, asked, 'PUT'))[0]).toBe(429)
    expect(await json(service, '')).toEqual([400, 'the body is empty'])
    expect(await json(service, '{')).toEqual([400, 'the body is not JSON'])
    expect(await json(service, '{"domain":"","descriptors":[]}')).toEqual([
      400,
      'rate limit domain must not be empty',
    ])
    expect(await json(service, '{"domian":"d"}')).toEqual([
      400,
      'the request has no field "domian"; did you mean domain?',
    ])
    expect(await json(service, '{"domain":"d","descriptors":[{"limit":{"unit":"WEEK"}}]}')).toEqual([
      400,
      'descriptors[0].limit.unit must be one of SECOND, MINUTE, HOUR, DAY, MONTH, YEAR',
    ])
  })

  test('/healthcheck is OK as long as the service is ready', async () => {
    const service = await open(rule('a', 1, 'hour'))
    const { statusCode, body } = await service.http.inject({ method: 'GET', url: '/healthcheck' })
    expect([statusCode, body]).toEqual([200, 'OK'])
  })
})
