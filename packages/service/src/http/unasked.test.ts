import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bench, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: window, key: [], limit: 3/minute, algorithm: fixed-window, when: { path: /window } }
  - { name: day, key: [], limit: 3/calendar-day@UTC, algorithm: fixed-window, when: { path: /day } }
  - { name: bucket, key: [], limit: 2/second, when: { path: /bucket } }
  - { name: priced, key: [], limit: 2/minute, algorithm: fixed-window, cost: 2, when: { path: /priced } }
  - { name: marked, key: [], limit: 2/minute, algorithm: fixed-window, soft: 50%, when: { path: /marked } }
  - { name: first, key: [], limit: 2/minute, algorithm: fixed-window, when: { path: /two } }
  - { name: second, key: [], limit: 2/minute, algorithm: fixed-window, when: { path: /two } }
  - { name: guarded, key: [], limit: 1/minute, when: { path: /guarded }, block: { after: 9, within: 1m, for: 1h } }
  - { name: by hand, key: [], limit: 1/minute, when: { path: /by-hand }, blockable: true }
  - { name: held, key: [], limit: 1/minute, algorithm: concurrency, when: { path: /held } }
  - { name: tarpit, key: [], limit: 1/minute, tarpit: 1ms, when: { path: /tarpit } }
  - { name: shadow, key: [], limit: 1/minute, mode: shadow, when: { path: /shadow } }
  - { name: hard, key: [], limit: 1/minute, when: { path: /shadow } }
`

let service: ServiceBench
beforeAll(async () => {
  service = await bench(RULES)
})
afterAll(() => service.close())

async function ask(path: string, cost = 1, url = '/v1/check'): Promise<Record<string, unknown>> {
  return (await post(service.http, url, { domain: 'shop', request: { path }, cost })).body
}

describe('what a client may do without asking', () => {
  it.each([
    ['/window', { leaseMs: 60_000 }],
    ['/day', { leaseMs: 86_400_000 }],
  ])('%s: units of a window may be granted until it ends', async (path, expected) => {
    expect(await ask(path)).toMatchObject(expected)
    expect(await ask(path, 1, '/v1/reserve')).toMatchObject(expected)
    expect(await ask(path, 1, '/v1/check?peek')).not.toHaveProperty('leaseMs')
  })

  it.each(['/bucket', '/priced', '/marked', '/two', '/held', '/nowhere'])(
    '%s: each request is to be asked',
    async (path) => {
      expect(await ask(path)).not.toHaveProperty('leaseMs')
    },
  )

  it('a refusal may be repeated until anything would be admitted', async () => {
    await ask('/bucket')
    expect(await ask('/bucket', 2)).toMatchObject({ allowed: false, retryAfterMs: 1_000, repeatableMs: 500 })
    await ask('/two', 2)
    expect(await ask('/two', 2)).toMatchObject({ allowed: false, repeatableMs: 60_000 })
  })

  it.each(['/guarded', '/by-hand', '/held', '/tarpit', '/shadow'])(
    '%s: a refusal is to be asked for each time',
    async (path) => {
      await ask(path)
      const answer = await ask(path)
      expect(answer).toMatchObject({ allowed: false })
      expect(answer).not.toHaveProperty('repeatableMs')
    },
  )
})
