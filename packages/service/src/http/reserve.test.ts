import { StoreError } from '@sluice/limiter'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answered, bench, GatedStore, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: ai
limits:
  - { name: requests, when: { path: /chat }, key: [tenant], limit: 100/minute, algorithm: fixed-window }
  - { name: tokens, when: { path: /chat }, key: [tenant], limit: 10000/minute, algorithm: fixed-window, cost: "header:x-tokens" }
  - { name: jobs, when: { path: /job }, key: [tenant], limit: 2/10m, algorithm: concurrency }
  - { name: bucket, when: { path: /bucket }, key: [tenant], limit: 10/minute }
  - { name: fixed, when: { path: /fixed }, key: [tenant], limit: 10/minute, cost: 2 }
descriptors:
  - key: model
    rate_limit: { unit: minute, requests_per_unit: 100 }
`
let service: ServiceBench
beforeAll(async () => {
  service = await bench(RULES, { secret: 'a' })
})
afterAll(() => service.close())

let tenants = 0
const tenant = (): string => `tenant ${++tenants}`
const body = (path: string, name: string, more: object = {}): object => ({
  domain: 'ai',
  request: { path, attributes: { tenant: name }, headers: { 'x-tokens': '1000' } },
  ...more,
})
const reserve = (path: string, name: string, more?: object): Promise<Answered> =>
  post(service.http, '/v1/reserve', body(path, name, more))
const remaining = async (path: string, name: string): Promise<Record<string, number>> => {
  const { body: answer } = await post(service.http, '/v1/check?peek', body(path, name))
  return Object.fromEntries(
    answer.policies.map((one: { policy: string; remaining: number }) => [one.policy, one.remaining]),
  )
}
/** A shared store that nobody reaches. */
class GoneStore extends GatedStore {
  override decide(): Promise<never> {
    return Promise.reject(new StoreError('gone'))
  }
}

const commit = (id: string, costs: object): Promise<Answered> =>
  post(service.http, '/v1/commit', { id, ...costs })
const cancel = (id: string): Promise<Answered> => post(service.http, '/v1/cancel', { id })

test('a reservation that a node made without the store is settled by that node alone', async () => {
  const rules = RULES.replace('name: bucket,', 'name: bucket, on_store_error: local,')
  const nodes = await Promise.all([0, 1].map(() => bench(rules, { secret: 'a', store: new GoneStore() })))
  const name = tenant()
  const at = async (node: number, url: string, sent: object): Promise<Answered> =>
    post(nodes[node]!.http, url, sent)
  const left = async (node: number): Promise<number> =>
    (await at(node, '/v1/check?peek', body('/bucket', name))).body.remaining
  const reserved = await at(0, '/v1/reserve', body('/bucket', name, { cost: 4 }))
  expect(reserved.body).toMatchObject({ allowed: true, degraded: true, remaining: 6 })
  const { id } = reserved.body
  await at(1, '/v1/check', body('/bucket', name, { cost: 5 }))
  for (const [url, sent] of [
    ['/v1/cancel', { id }],
    ['/v1/commit', { id, cost: 1 }],
  ] as const) {
    expect(await at(1, url, sent)).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('another node made the reservation') },
    })
  }
  expect([await left(0), await left(1)]).toEqual([6, 5])
  expect((await at(0, '/v1/cancel', { id })).status).toBe(204)
  expect([await left(0), await left(1)]).toEqual([10, 5])
  for (const node of nodes) await node.close()
})

describe('a reservation', () => {
  test('charges its estimate at once, and answers as a check does', async () => {
    const name = tenant()
    const { status, body: answer } = await reserve('/chat', name)
    expect(status).toBe(200)
    expect(answer).toMatchObject({ allowed: true, policies: [{ remaining: 99 }, { remaining: 9_000 }] })
    expect(answer.id).toMatch(/^[\w-]{60,}$/)
  })

  test('that is refused has no id', async () => {
    expect((await reserve('/bucket', tenant(), { cost: 11 })).body).toMatchObject({
      allowed: false,
      id: null,
    })
  })

  test('commits costs by policy', async () => {
    const name = tenant()
    const { id } = (await reserve('/chat', name)).body
    expect((await commit(id, { costs: { tokens: 300 } })).status).toBe(204)
    expect(await remaining('/chat', name)).toEqual({ requests: 99, tokens: 9_700 })
  })

  test('commits a cost to the limits that took the request’s own', async () => {
    const name = tenant()
    const { id } = (await reserve('/chat', name, { cost: 5 })).body
    expect((await commit(id, { cost: 2, costs: { tokens: 1_500 } })).status).toBe(204)
    expect(await remaining('/chat', name)).toEqual({ requests: 98, tokens: 8_500 })
  })

  test('FB-090: charges more than the estimate when it came to more, into debt', async () => {
    const name = tenant()
    const { id } = (await reserve('/bucket', name, { cost: 4 })).body
    await commit(id, { cost: 12 })
    expect((await post(service.http, '/v1/check', body('/bucket', name))).body).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMs: 18_000,
    })
  })

  test('gives everything back when it is cancelled', async () => {
    const name = tenant()
    const { id } = (await reserve('/chat', name)).body
    expect((await cancel(id)).status).toBe(204)
    expect(await remaining('/chat', name)).toEqual({ requests: 100, tokens: 10_000 })
  })

  test('is settled once', async () => {
    const name = tenant()
    const { id } = (await reserve('/bucket', name, { cost: 4 })).body
    const statuses = await Promise.all([commit(id, { cost: 2 }), cancel(id), commit(id, { cost: 2 })])
    expect(statuses.map(({ status }) => status)).toEqual([204, 410, 410])
    expect(await remaining('/bucket', name)).toEqual({ bucket: 8 })
  })

  test('ends by itself: the estimate stands', async () => {
    const name = tenant()
    const { id } = (await reserve('/bucket', name, { cost: 4, ttl_ms: 1_000 })).body
    service.clock.advance(1_000)
    expect(await cancel(id)).toMatchObject({
      status: 410,
      body: { detail: 'the reservation is settled already, or over' },
    })
    expect(await remaining('/bucket', name)).toEqual({ bucket: 6 })
  })

  test('gives nothing back to a window that the charge was not made in', async () => {
    const name = tenant()
    const { id } = (await reserve('/chat', name, { ttl_ms: 600_000 })).body
    service.clock.advance(120_000)
    await reserve('/chat', name)
    expect((await cancel(id)).status).toBe(204)
    expect(await remaining('/chat', name)).toEqual({ requests: 99, tokens: 9_000 })
  })

  test('holds a lease until it is settled, at whatever cost', async () => {
    const name = tenant()
    const ids = [(await reserve('/job', name)).body.id, (await reserve('/job', name)).body.id]
    expect((await reserve('/job', name)).body).toMatchObject({ allowed: false, policy: 'jobs' })
    await commit(ids[0], { cost: 1 })
    expect(await remaining('/job', name)).toEqual({ jobs: 1 })
    await cancel(ids[1])
    expect(await remaining('/job', name)).toEqual({ jobs: 2 })
  })

  test('commits a measured cost to the limits that measure it, and leaves those that count requests', async () => {
    const name = tenant()
    const { id } = (await reserve('/chat', name)).body
    expect((await commit(id, { cost: 1_700 })).status).toBe(204)
    expect(await remaining('/chat', name)).toEqual({ requests: 99, tokens: 8_300 })
  })

  test('of nothing yet is charged when it is committed', async () => {
    const name = tenant()
    const { id } = (await reserve('/bucket', name, { cost: 0 })).body
    expect((await commit(id, { cost: 4 })).status).toBe(204)
    expect(await remaining('/bucket', name)).toEqual({ bucket: 6 })
  })

  test('works on descriptors, which may have costs of their own', async () => {
    const entries = [{ key: 'model', value: tenant() }]
    const other = [{ key: 'model', value: tenant() }]
    const descriptors = [{ entries }, { entries: other, cost: 50 }]
    const { id } = (await post(service.http, '/v1/reserve', { domain: 'ai', descriptors, cost: 20 })).body
    await commit(id, { cost: 5 })
    const look = await post(service.http, '/v1/check?peek', { domain: 'ai', descriptors })
    expect(look.body.policies.map((one: { remaining: number }) => one.remaining)).toEqual([95, 50])
  })

  test('that nothing limits can be settled like any other', async () => {
    const { id } = (await reserve('/free', tenant())).body
    expect((await commit(id, { cost: 7 })).status).toBe(204)
  })

  test('survives a reload that changes or drops its rule', async () => {
    const own = await bench(RULES)
    const sent = body('/bucket', 'ada', { cost: 4 })
    const { id } = (await post(own.http, '/v1/reserve', sent)).body
    await own.folder.write('rules.yaml', RULES.replace('limit: 10/minute }', 'limit: 20/minute }'))
    expect(await own.rules.reload()).toEqual({ result: 'changed' })
    expect((await post(own.http, '/v1/cancel', { id })).status).toBe(204)
    expect((await post(own.http, '/v1/check?peek', sent)).body.remaining).toBe(20)
    await own.close()
  })

  test('can be settled at another node that has the secret and the store', async () => {
    const { store } = service
    const [friend, stranger] = [
      await bench(RULES, { store, secret: 'a' }),
      await bench(RULES, { store, secret: 'b' }),
    ]
    const name = tenant()
    const { id } = (await reserve('/bucket', name, { cost: 4 })).body
    expect((await post(stranger.http, '/v1/cancel', { id })).status).toBe(404)
    expect((await post(friend.http, '/v1/cancel', { id })).status).toBe(204)
    expect(await remaining('/bucket', name)).toEqual({ bucket: 10 })
    await Promise.all([friend.close(), stranger.close()])
  })
})

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)

describe(`reservations on walks (SLUICE_SEED=${SEED})`, { timeout: 3_600_000 }, () => {
  const algorithms = ['token-bucket', 'sliding-window-log', 'fixed-window', 'gcra', 'leaky-bucket']
  const rulesOf = (dropped: number, limit: number): string => `
domain: ai
limits:
  - { name: other, key: [tenant], limit: 1000/day }
${algorithms
  .filter((_, i) => i !== dropped)
  .map((name) => `  - { name: ${name}, key: [tenant], limit: ${limit}/day, algorithm: ${name} }`)
  .join('\n')}
`
  const walk = async (dice: readonly number[]): Promise<void> => {
    const own = await bench(rulesOf(-1, 60))
    const ask = { domain: 'ai', request: { path: '/', attributes: { tenant: 'ada' } } }
    const made: { id: string; cost: number; until: number; settled: boolean }[] = []
    let charged = 0
    for (const die of dice) {
      const [kind, share] = [die % 8, die >> 3]
      const chosen = made[share % (made.length || 1)]
      own.clock.advance(share % 400)
      if (kind === 0) {
        await own.folder.write('rules.yaml', rulesOf((share % 6) - 1, 60 + (share % 2) * 30))
        await own.rules.reload()
      } else if (kind < 4 || chosen === undefined) {
        const cost = 1 + (share % 4)
        const { body: answer } = await post(own.http, '/v1/reserve', { ...ask, cost, ttl_ms: 5_000 })
        if (!answer.allowed) continue
        made.push({ id: answer.id, cost, until: own.clock.now() + 5_000_000, settled: false })
        charged += cost
      } else {
        const actual = kind < 6 ? share % (chosen.cost + 2) : 0
        const isOpen = !chosen.settled && own.clock.now() < chosen.until
        const { status } = await (kind < 6
          ? post(own.http, '/v1/commit', { id: chosen.id, cost: actual })
          : post(own.http, '/v1/cancel', { id: chosen.id }))
        expect(status).toBe(isOpen ? 204 : 410)
        if (isOpen) charged += actual - chosen.cost
        chosen.settled ||= isOpen
      }
    }
    const { body: answer } = await post(own.http, '/v1/check?peek', { ...ask, cost: 0 })
    const other = answer.policies.find(({ policy }: { policy: string }) => policy === 'other')
    expect(other.limit - other.remaining).toBe(charged)
    // Those whose rule was dropped meanwhile were not charged for all of it, and gave back no more than they took.
    for (const { policy, limit, remaining: left } of answer.policies)
      expect(limit - left, policy).toBeLessThanOrEqual(charged)
    await own.close()
  }

  test('charge what they cost in the end, once, whatever becomes of the rules', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.nat(0x7fff_ffff), { minLength: 10, maxLength: 40, size: 'max' }), walk),
      { numRuns: Number(process.env.SLUICE_WALKS ?? 8), seed: SEED, endOnFailure: true },
    ))
})

describe('mistakes', () => {
  test.each([
    [{}, 'id is missing'],
    [{ id: 1, cost: 1 }, 'id must be the id of a reservation'],
    [{ id: '', cost: 1 }, 'id is not a reservation'],
    [{ id: 'x.y', cost: 1 }, 'id is not a reservation'],
    [{ id: 'x', cost: -1 }, 'cost must be a whole number from 0 to 2^53−1'],
    [{ id: 'x', costs: { tokens: 0.5 } }, 'costs.tokens must be a whole number from 0 to 2^53−1'],
    [{ id: 'x', price: 1 }, 'unknown field "price" in the body'],
  ])('committing %j is 400', async (sent, detail) => {
    const { status, body: answer } = await post(service.http, '/v1/commit', sent)
    expect([status, answer.detail]).toEqual([400, detail])
  })

  test.each([
    ['/chat', {}, 'cost or costs is missing'],
    ['/chat', { costs: { token: 1 } }, 'costs: "token" was not charged; requests, tokens were'],
    [
      '/chat',
      { costs: { __proto__: 1, constructor: 1 } },
      'costs: "constructor" was not charged; requests, tokens were',
    ],
    ['/fixed', { cost: 1 }, 'every limit charged has a cost of its own: give costs, for fixed'],
  ])('on %s committing %j is 400, and settles nothing', async (path, costs, detail) => {
    const { id } = (await reserve(path, tenant())).body
    const { status, body: answer } = await commit(id, costs)
    expect([status, answer.detail]).toEqual([400, detail])
    expect((await cancel(id)).status).toBe(204)
  })

  test('OF-66 an id shows nothing, and one that someone changed is not known', async () => {
    const name = tenant()
    const { id } = (await reserve('/bucket', name)).body
    const bytes = Buffer.from(id, 'base64url')
    for (const secret of ['bucket', name, name.replace(' ', '%20'), 'cost', 'policy'])
      for (const text of [id, bytes.toString('latin1')]) expect(text).not.toContain(secret)
    expect((await reserve('/bucket', name)).body.id.slice(0, 16)).not.toBe(id.slice(0, 16))
    for (let at = 0; at < bytes.length; at += 7) {
      const forged = Buffer.from(bytes)
      forged[at]! ^= 1
      expect((await cancel(forged.toString('base64url'))).status).toBe(404)
    }
    for (const cut of [id.slice(0, -4), id.slice(4)]) expect((await cancel(cut)).status).toBe(404)
    expect((await cancel(`${id}=`)).status).toBe(400)
  })

  test.each([0, -1, 1.5, 86_400_001, '1m'])('a ttl_ms of %j is 400', async (ttl_ms) => {
    expect((await reserve('/bucket', tenant(), { ttl_ms })).body.detail).toBe(
      'ttl_ms must be a whole number from 1 to 86400000',
    )
  })

  test('?peek makes no sense', async () => {
    expect((await post(service.http, '/v1/reserve?peek', body('/bucket', tenant()))).status).toBe(400)
  })
})
