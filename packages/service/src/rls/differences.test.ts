import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterEach, expect, test } from 'vitest'
import { GatedStore } from '../testing.ts'
import { codes, entries, type GrpcBench, grpcBench, hitsOf } from './vectors.test-support.ts'

const opened: GrpcBench[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open(descriptors: string, options: Parameters<typeof grpcBench>[1] = {}): Promise<GrpcBench> {
  const service = await grpcBench(`domain: d\ndescriptors:\n${descriptors}`, options)
  opened.push(service)
  service.clock.set(1_699_999_800_000_000)
  return service
}

const rule = (key: string, limit: number, more = '', inLimit = ''): string =>
  `  - { key: ${key}, ${more}rate_limit: { unit: hour, requests_per_unit: ${limit}${inLimit} } }\n`
const remaining = async (service: GrpcBench, ...descriptors: object[]): Promise<number[]> =>
  (await service.shouldRateLimit({ domain: 'd', descriptors })).statuses.map(
    ({ limit_remaining }) => limit_remaining,
  )
const look = (key: string): object => ({ ...entries(key, 'v'), hits_addend: { value: 0 } })

test('every row of the page is a test here', () => {
  const read = (path: string): string[] =>
    [...readFileSync(join(import.meta.dirname, path), 'utf8').matchAll(/(?:^\| |test\(')(ER-\d\d)/gm)].map(
      ([, id]) => id!,
    )
  expect(read('differences.test.ts').sort()).toEqual(read('../../../../docs/envoy/replace-ratelimit.md'))
})

test('ER-01: a refused request charges nothing, in no descriptor', async () => {
  const service = await open(rule('a', 1) + rule('b', 9))
  expect(await codes(service, 'd', 5, entries('a', 'v'), entries('b', 'v'))).toEqual([
    'OK',
    ...Array.from({ length: 4 }, () => 'OVER_LIMIT'),
  ])
  expect(await remaining(service, look('b'))).toEqual([8])
})

test('ER-02: a limit that the request brings without a unit is an error, and the service lives', async () => {
  const service = await open(rule('a', 1))
  const asked = { domain: 'd', descriptors: [{ ...entries('a', 'v'), limit: { requests_per_unit: 5 } }] }
  await expect(service.shouldRateLimit(asked)).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
  expect(await remaining(service, entries('a', 'v'))).toEqual([0])
})

test('ER-03: where the store hangs, each limit says within the caller’s time what happens', async () => {
  const gate = new GatedStore()
  const service = await open(rule('closed', 9, '', ', on_store_error: closed') + rule('open', 9), {
    store: gate,
    fallback: { deadlineMs: 60_000 },
  })
  gate.shut()
  expect(await codes(service, 'd', 1, entries('closed', 'v'))).toEqual(['OVER_LIMIT'])
  expect(await codes(service, 'd', 1, entries('open', 'v'))).toEqual(['OK'])
})

test('ER-04: a request with a mistake has INVALID_ARGUMENT, with the same text', async () => {
  const service = await open(rule('a', 1))
  await expect(service.shouldRateLimit({ domain: 'd' })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'rate limit descriptor list must not be empty',
  })
})

test('ER-05: two descriptors never share a counter because their texts, joined, are the same', async () => {
  const service = await open(
    '  - key: a_b\n    descriptors: [{ key: c, rate_limit: { unit: hour, requests_per_unit: 1 } }]\n' +
      '  - key: a\n    descriptors: [{ key: b_c, rate_limit: { unit: hour, requests_per_unit: 1 } }]\n',
  )
  expect(await codes(service, 'd', 1, entries('a_b', '1', 'c', '2'))).toEqual(['OK'])
  expect(await codes(service, 'd', 1, entries('a', 'b_1', 'b_c', '2'))).toEqual(['OK'])
})

test('ER-06: headers are those of the limit that refused, with the exact Retry-After', async () => {
  const service = await open(
    `${rule('hour', 1)}  - { key: minute, rate_limit: { unit: minute, requests_per_unit: 2 } }\n`,
    {
      rls: { limitHeaders: { limit: 'L', remaining: 'R', reset: 'S' } },
    },
  )
  const asked = { domain: 'd', descriptors: [entries('hour', 'v'), entries('minute', 'v')] }
  await service.shouldRateLimit(asked)
  const headers = Object.fromEntries(
    (await service.shouldRateLimit(asked)).response_headers_to_add.map(({ key, value }) => [key, value]),
  )
  expect(headers).toMatchObject({ L: '1', R: '0', S: '3000', 'Retry-After': '3000' })
})

test('ER-07: a raised limit admits at once what it refused before', async () => {
  const gate = new GatedStore() // a store outside this process, whose refusals are remembered
  const service = await open(rule('a', 1), { store: gate })
  expect(await codes(service, 'd', 2, entries('a', 'v'))).toEqual(['OK', 'OVER_LIMIT'])
  await service.folder.write('rules.yaml', `domain: d\ndescriptors:\n${rule('a', 2)}`)
  await service.rules.reload()
  expect(await codes(service, 'd', 1, entries('a', 'v'))).toEqual(['OK'])
})

test('ER-08: is_negative_hits gives back', async () => {
  const service = await open(rule('a', 3))
  await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', 'v')], hits_addend: 2 })
  expect(
    await remaining(service, { ...entries('a', 'v'), hits_addend: { value: 2 }, is_negative_hits: true }),
  ).toEqual([3])
})

test('ER-09: a cost that does not fit is charged only where the limit was looked at before', async () => {
  const service = await open(rule('before', 5) + rule('after', 5))
  const costs = (key: string): object => ({ ...entries(key, 'v'), hits_addend: { value: 9 } })
  await service.shouldRateLimit({ domain: 'd', descriptors: [costs('before')] })
  expect(await remaining(service, look('before'))).toEqual([5])
  await service.shouldRateLimit({ domain: 'd', descriptors: [look('after')] })
  await service.shouldRateLimit({ domain: 'd', descriptors: [costs('after')] })
  expect(await codes(service, 'd', 1, look('after'))).toEqual(['OVER_LIMIT'])
})

test('ER-10: durations are rounded up to whole seconds, for every algorithm', async () => {
  const service = await open(rule('a', 1, '', ', algorithm: sliding-window-log'))
  await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', 'v')] })
  service.clock.advance(2_700)
  const { statuses } = await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', 'v')] })
  expect(statuses[0]!.duration_until_reset).toEqual({ seconds: 3_598, nanos: 0 }) // of 3597.3
})

test('ER-11: what a refused request would have charged is over the limit, all of it', async () => {
  const service = await open(rule('a', 10))
  await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', 'v')], hits_addend: 9 })
  await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', 'v')], hits_addend: 3 })
  expect((await hitsOf(service))['d.a']).toEqual({
    total_hits: 12,
    over_limit: 3,
    near_limit: 1,
    within_limit: 9,
  })
})

test('ER-12: no client makes the name of a metric, and their labels are bounded', async () => {
  const service = await open(rule('a', 10, 'detailed_metric: true, '))
  for (let i = 0; i < 1_050; i++) {
    await service.shouldRateLimit({ domain: `of-a-client-${i}`, descriptors: [entries('a', 'v')] })
    await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', `${i}`)] })
  }
  const { body } = await service.admin.inject({ method: 'GET', url: '/metrics' })
  expect(body).not.toContain('of-a-client')
  expect(Object.keys(await hitsOf(service)).length).toBeLessThan(1_010)
})

test('ER-13: a limit in shadow mode has no say in the headers of a request that passes', async () => {
  const service = await open(rule('shadow', 0, 'shadow_mode: true, ') + rule('real', 5), {
    rls: { limitHeaders: { limit: 'L', remaining: 'R', reset: 'S' } },
  })
  const { overall_code, response_headers_to_add } = await service.shouldRateLimit({
    domain: 'd',
    descriptors: [entries('shadow', 'v'), entries('real', 'v')],
  })
  expect([overall_code, response_headers_to_add.find(({ key }) => key === 'R')?.value]).toEqual(['OK', '4'])
})

test('ER-14: metadata comes back also where value_to_metric is set', async () => {
  const service = await open(rule('a', 5, 'value_to_metric: true, metadata: { pool: x }, '), {
    rls: { dynamicMetadata: true },
  })
  const { dynamic_metadata } = await service.shouldRateLimit({
    domain: 'd',
    descriptors: [entries('a', 'v')],
  })
  expect(dynamic_metadata.fields.map(({ key }: { key: string }) => key)).toContain('metadata')
})

test('ER-15: where every limit is a quota, descriptors without a limit do not make all pass', async () => {
  const service = await open(rule('a', 1), { rls: { quota: true } })
  expect(await codes(service, 'd', 2, entries('a', 'v'), entries('none', 'v'))).toEqual(['OK', 'OVER_LIMIT'])
})

test('ER-16: descriptors that name one counter are one charge of their sum', async () => {
  const service = await open(rule('a', 5))
  expect(await remaining(service, entries('a', 'v'), entries('a', 'v'))).toEqual([3, 3])
})

test('ER-17: /json says what is wrong, and takes no GET', async () => {
  const service = await open(rule('a', 5))
  const wrong = await service.http.inject({ method: 'POST', url: '/json', payload: '{"domain":1}' })
  expect([wrong.statusCode, wrong.body]).toEqual([400, 'domain must be text'])
  expect((await service.http.inject({ method: 'GET', url: '/json' })).statusCode).toBe(405)
})

test('ER-18: a mistake in the rules that is none there is an error here', async () => {
  const written = rule('a', 5, '', ', replaces: [{ name: nothing }]')
  await expect(open(written)).rejects.toThrow('no limit of this domain is named "nothing"')
})
