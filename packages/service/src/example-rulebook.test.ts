import { fileURLToPath } from 'node:url'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { FakeClock } from '@sluice/limiter/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assemble, type ServiceParts } from './assemble.ts'
import { post } from './testing.ts'

let service: ServiceParts
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../../examples/rulebook', import.meta.url))
  const store = new MemoryStore({ clock: new FakeClock() })
  service = assemble({ rules: [folder], store, log: { level: 'silent' } }, () => false)
  expect(await service.rules.reload()).toEqual({ result: 'changed' })
})
afterAll(() => Promise.all([service.http.close(), service.admin.close()]))

/** How many of `count` requests the example admits, and which limit refuses the rest. */
async function admitted(count: number, body: object): Promise<[number, string]> {
  const answers = (
    await post(
      service.http,
      '/v1/check/batch',
      Array.from({ length: count }, () => body),
    )
  ).body
  const allowed = answers.filter((answer: { allowed: boolean }) => answer.allowed).length
  return [allowed, answers.at(-1).policy]
}
const shop = (request: object): object => ({ domain: 'shop', request })
const entry = (domain: string, key: string, value: string): object => ({
  domain,
  descriptors: [{ entries: [{ key, value }] }],
})

test.each([
  [
    'five logins a minute from one address',
    6,
    shop({ method: 'POST', path: '/login', ip: '203.0.113.7' }),
    5,
    'login',
  ],
  ['twenty searches at once', 21, shop({ path: '/search/shoes', attributes: { user: 'ada' } }), 20, 'search'],
  [
    'a hundred an hour on the free plan',
    101,
    shop({ attributes: { tenant: 'a', plan: 'free' } }),
    100,
    'plan',
  ],
  ['twenty an hour on none', 21, shop({ attributes: { tenant: 'b' } }), 20, 'plan'],
  [
    'ninety thousand tokens a minute',
    10,
    shop({
      method: 'POST',
      path: '/v1/chat',
      headers: { 'x-model': 'm', 'x-estimated-tokens': '10000' },
      attributes: { tenant: 'c', plan: 'pro' },
    }),
    9,
    'tokens',
  ],
  [
    'five marketing messages a day',
    6,
    entry('messaging', 'message_type', 'marketing'),
    5,
    'message_type_marketing',
  ],
  [
    'a hundred messages a day to one number',
    101,
    entry('messaging', 'to_number', '+15550100'),
    100,
    'to_number',
  ],
  ['five logins a minute', 6, entry('auth', 'auth_type', 'login'), 5, 'auth_type_login'],
])('%s', async (_name, count, body, allowed, policy) => {
  expect(await admitted(count, body)).toEqual([allowed, policy])
})

test('anything else only meets the limit for all', async () => {
  expect(await admitted(300, shop({ path: '/' }))).toEqual([300, 'everyone'])
})
