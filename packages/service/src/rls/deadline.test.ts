import { Metadata } from '@grpc/grpc-js'
import { afterEach, describe, expect, test } from 'vitest'
import { entries, type GrpcBench, grpcBench } from '../grpc/calls.test-support.ts'
import { GatedStore } from '../testing.ts'
import { withinMsOf } from './deadline.ts'

const INFINITE = Number.POSITIVE_INFINITY

describe('a call is decided within', () => {
  test.each<[string, number, Record<string, string>, number]>([
    ['the default, where the caller does not say', INFINITE, {}, 15],
    ['what grpc-timeout leaves, less the way back', 1_100, {}, 95],
    ['what Envoy expects, less the way back', INFINITE, { 'x-envoy-expected-rq-timeout-ms': '250' }, 245],
    ['the shorter of both', 1_100, { 'x-envoy-expected-rq-timeout-ms': '20' }, 15],
    ['a millisecond, where that is nothing', 1_002, {}, 1],
    ['the default, where the header is no number', INFINITE, { 'x-envoy-expected-rq-timeout-ms': '-1' }, 15],
  ])('%s', (_name, deadline, headers, ms) => {
    expect(withinMsOf(deadline, Metadata.fromHttp2Headers(headers), 15, 1_000)).toBe(ms)
  })
})

describe('a store that hangs', () => {
  const opened: GrpcBench[] = []
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
  })

  const RULES = `
domain: d
descriptors:
  - { key: closed, rate_limit: { unit: hour, requests_per_unit: 5, on_store_error: closed } }
  - { key: open, rate_limit: { unit: hour, requests_per_unit: 5 } }
  - { key: local, rate_limit: { unit: hour, requests_per_unit: 5, on_store_error: local } }
`
  /** Of which the store's own deadline is a minute. */
  const hung = async (): Promise<GrpcBench & { gate: GatedStore }> => {
    const gate = new GatedStore()
    const service = await grpcBench(RULES, { store: gate, fallback: { deadlineMs: 60_000, failures: 1 } })
    opened.push(service)
    gate.shut()
    return { ...service, gate }
  }

  test.each([
    ['closed', 'OVER_LIMIT', 0],
    ['open', 'OK', 0], // what remains is not known
    ['local', 'OK', 4],
  ])('is answered for by a rule that is %s: %s', async (key, code, left) => {
    const { shouldRateLimit } = await hung()
    const { overall_code, statuses } = await shouldRateLimit({
      domain: 'd',
      descriptors: [entries(key, 'a')],
    })
    expect([overall_code, statuses[0]!.limit_remaining]).toEqual([code, left])
  })

  test('is not waited for longer than the caller waits', async () => {
    const { shouldRateLimit } = await hung()
    const asked = { domain: 'd', descriptors: [entries('closed', 'a')] }
    const answer = await shouldRateLimit(asked, { 'x-envoy-expected-rq-timeout-ms': '40' }, 10_000)
    expect(answer.overall_code).toBe('OVER_LIMIT')
  })

  test('does not look broken because a caller is in a hurry', async () => {
    const { shouldRateLimit, gate } = await hung()
    const asked = { domain: 'd', descriptors: [entries('closed', 'a')] }
    for (let i = 0; i < 3; i++) expect((await shouldRateLimit(asked)).overall_code).toBe('OVER_LIMIT')
    gate.open()
    const patient = { 'x-envoy-expected-rq-timeout-ms': '60000' }
    const { overall_code, statuses } = await shouldRateLimit(asked, patient)
    expect([overall_code, statuses[0]!.limit_remaining]).toEqual(['OK', 1]) // what came late was charged
  })
})
