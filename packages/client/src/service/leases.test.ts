import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LeaseOptions } from './leases.ts'
import { type ServiceInProcess, serviceInProcess } from './service.test-support.ts'
import { createServiceClient } from './service-client.ts'
import type { ServiceClient } from './service-verbs.ts'

const RULES = `
domain: shop
limits:
  - { name: hourly, key: [user], limit: 1000/hour, algorithm: fixed-window, when: { path: /hourly } }
  - { name: bucket, key: [user], limit: 1000/hour, when: { path: /bucket } }
  - { name: priced, key: [user], limit: 1000/hour, algorithm: fixed-window, cost: 5, when: { path: /priced } }
  - { name: one, key: [user], limit: 1000/hour, algorithm: fixed-window, when: { path: /two } }
  - { name: two, key: [], limit: 1000/hour, algorithm: fixed-window, when: { path: /two } }
`
const HOUR_MS = 3_600_000
const at = (path: string): { request: { path: string; attributes: { user: string } } } => ({
  request: { path, attributes: { user: 'ada' } },
})

let service: ServiceInProcess
let prefetched = 0
function client(lease: Partial<LeaseOptions> = {}): ServiceClient {
  return createServiceClient({
    url: 'http://service',
    domain: 'shop',
    fetch: service.fetch,
    now: service.now,
    lease: { units: 100, ...lease },
    observe: ({ type }) => {
      if (type === 'prefetched') prefetched++
    },
  }) as unknown as ServiceClient
}

beforeEach(async () => {
  service = await serviceInProcess(RULES)
  prefetched = 0
})
afterEach(() => service.close())

async function askOften(one: ServiceClient, path: string, times: number): Promise<number> {
  let allowed = 0
  for (let i = 0; i < times; i++) if ((await one.check(at(path))).allowed) allowed++
  return allowed
}

describe('units taken ahead over HTTP', () => {
  it('are granted without asking, with the figures that the service would give', async () => {
    const one = client()
    for (let i = 0; i < 200; i++)
      expect(await one.check(at('/hourly'))).toMatchObject({ remaining: 999 - i, resetAfterMs: HOUR_MS })
    expect(service.sent.map(({ path }) => path)).toEqual(['/v1/check/batch', '/v1/reserve', '/v1/reserve'])
    expect(prefetched).toBe(199)
    await one.close()
    expect(await client().peek(at('/hourly'))).toMatchObject({ remaining: 800 })
  })

  it.each(['/bucket', '/priced', '/two'])('are not taken for %s', async (path) => {
    await askOften(client(), path, 20)
    expect(service.sent.every((call) => call.path === '/v1/check/batch')).toBe(true)
  })

  it('questions that come while units are taken share them, in one call', async () => {
    const one = client()
    await one.check(at('/hourly'))
    const answers = await Promise.all(Array.from({ length: 100 }, () => one.check(at('/hourly'))))
    expect(answers.every(({ allowed }) => allowed)).toBe(true)
    expect(service.sent.map(({ path }) => path)).toEqual(['/v1/check/batch', '/v1/reserve'])
  })

  it('end with their window', async () => {
    const one = client()
    await askOften(one, '/hourly', 50)
    service.clock.advance(HOUR_MS)
    expect(await one.check(at('/hourly'))).toMatchObject({ remaining: 900 + 99 })
    await one.close()
    expect(await client().peek(at('/hourly'))).toMatchObject({ remaining: 999 })
  })

  it('while the service is down what was taken is granted, and then onError decides', async () => {
    const one = client()
    await askOften(one, '/hourly', 2)
    service.broken = async () => Promise.reject(new TypeError('fetch failed'))
    const answers = []
    for (let i = 0; i < 100; i++) answers.push((await one.check(at('/hourly'))).degraded)
    expect(answers.filter((degraded) => !degraded)).toHaveLength(99)
  })

  it('the number of leases is bounded', async () => {
    const one = client({ maxLeases: 2 })
    for (const user of ['a', 'b', 'c'])
      for (let i = 0; i < 3; i++) await one.check({ request: { path: '/hourly', attributes: { user } } })
    expect(service.sent.filter(({ path }) => path === '/v1/reserve')).toHaveLength(2)
  })

  it('8 clients admit exactly the limit of each window, whatever they ask and whenever', async () => {
    const step = fc.record({
      who: fc.nat(7),
      times: fc.integer({ min: 1, max: 60 }),
      cost: fc.integer({ min: 0, max: 3 }),
    })
    let served = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(HOUR_MS), async (steps, forwardMs) => {
        const clients = Array.from({ length: 8 }, () => client({ units: 40, clients: 2 }))
        const question = { request: { path: '/hourly', attributes: { user: `run-${served++}` } } }
        let units = 0
        const ask = async (who: number, cost: number): Promise<boolean> => {
          const { allowed } = await clients[who]!.check({ ...question, cost })
          if (allowed) units += cost
          return allowed
        }
        const askAll = async (): Promise<void> => {
          for (const { who, times, cost } of steps)
            await Promise.all(Array.from({ length: times }, () => ask(who, cost)))
          expect(units).toBeLessThanOrEqual(1_000)
        }
        await askAll()
        // To the end: each asks until it is refused.
        for (let who = 0; who < 8; who++) while (await ask(who, 1));
        expect(units).toBe(1_000)
        const window = Math.floor(service.now() / HOUR_MS)
        service.clock.advance(forwardMs)
        if (Math.floor(service.now() / HOUR_MS) > window) units = 0
        await askAll()
        await Promise.all(clients.map((one) => one.close()))
      }),
      { numRuns: Number(process.env.SLUICE_RUNS ?? 8) },
    )
    expect(prefetched).toBeGreaterThan(0)
  })
})
