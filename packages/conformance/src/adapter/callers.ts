import { deepEqual, equal, match } from 'node:assert/strict'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type Making, type TestOptions } from './bench.ts'

const TWO: TestOptions = { limit: 2, period: '1m' }
const byUser = ({ header }: Making, more?: TestOptions): TestOptions => ({
  ...TWO,
  key: (...native) => header(native, 'x-user'),
  ...more,
})
const user = (name: string) => ({ headers: { 'x-user': name } })
const via = (forwarded: string) => ({ headers: { 'x-forwarded-for': forwarded } })

/** How callers are identified. */
export function callers(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test(
    'counts each key apart',
    (making) => byUser(making),
    async ({ statuses }) => {
      deepEqual(await statuses(3, '/', user('ada')), [200, 200, 429])
      deepEqual(await statuses(1, '/', user('constructor')), [200])
    },
  )

  test(
    'T60: who has no key is counted by address, apart from whoever is called so',
    (making) => byUser(making),
    async ({ statuses }) => {
      deepEqual(await statuses(3), [200, 200, 429])
      deepEqual(await statuses(1, '/', user('127.0.0.1')), [200])
    },
  )

  test(
    'T60: who has no key is not limited, where that is said',
    (making) => byUser(making, { onMissingKey: 'skip' }),
    async ({ statuses }) => {
      deepEqual(await statuses(4), [200, 200, 200, 200])
    },
  )

  test(
    'T60: who has no key is refused, where that is said',
    (making) => byUser(making, { onMissingKey: 'deny' }),
    async ({ get }) => {
      const { status, headers } = await get()
      deepEqual([status, headers['retry-after']], [429, undefined])
    },
  )

  test('FB-061: believes no X-Forwarded-For, and says so once', TWO, async ({ statuses, get, log }) => {
    for (const forged of ['1.1.1.1', '2.2.2.2']) deepEqual(await statuses(1, '/', via(forged)), [200])
    equal((await get('/', via('3.3.3.3'))).status, 429)
    equal(log.length, 1)
    match(log[0]!, /x-forwarded-for.*trustProxy/)
  })

  test('FB-061: takes the address that the last of its proxies saw', { ...TWO, trustProxy: 1 }, async ({
    statuses,
    log,
  }) => {
    for (const forged of ['1.1.1.1', '2.2.2.2'])
      deepEqual(await statuses(1, '/', via(`${forged}, 203.0.113.9`)), [200])
    deepEqual(await statuses(1, '/', via('3.3.3.3, 203.0.113.9')), [429])
    deepEqual(await statuses(1, '/', via('203.0.113.9, 198.51.100.7')), [200])
    equal(log.length, 0)
  })

  test('T61: knows an address however a proxy spells it', { ...TWO, trustProxy: 1 }, async ({
    statuses,
    get,
  }) => {
    const spelt: number[] = []
    for (const address of ['1.2.3.4', '1.2.3.4:5678', '::ffff:102:304', '64:ff9b::1.2.3.4']) {
      spelt.push(...(await statuses(1, '/', via(address))))
    }
    deepEqual(spelt, [200, 200, 429, 429])
    equal(JSON.parse((await get('/', via('2001:db8::1'))).body).key, '2001:db8::/64')
    equal((await get('/', via('2001:db8::ffff'))).headers.ratelimit, '"default";r=0;t=60')
  })

  test('reads Forwarded, where its proxies write that', {
    ...TWO,
    trustProxy: '127.0.0.0/8',
    proxyHeader: 'forwarded',
  }, async ({ get }) => {
    const { body } = await get('/', { headers: { forwarded: 'for=1.1.1.1, for="[2001:db8:1:2:3::4]:4711"' } })
    equal(JSON.parse(body).key, '2001:db8:1:2::/64')
  })

  test(
    'lets in whoever is exempt, uncounted',
    (making) => byUser(making, { limit: 0, allowList: ['ada'] }),
    async ({ get }) => {
      const { status, headers } = await get('/', user('ada'))
      deepEqual([status, headers.ratelimit], [200, undefined])
      equal((await get('/', user('bob'))).status, 429)
    },
  )

  test(
    'refuses whoever is on the other list, before the exempt',
    (making) => byUser(making, { denyList: ['127.0.0.0/8'], allowList: ['ada'] }),
    async ({ get }) => {
      const { status, body } = await get('/', user('ada'))
      deepEqual([status, JSON.parse(body).title], [403, 'Forbidden'])
    },
  )

  test(
    'nobody is exempt by being called like an address',
    (making) => byUser(making, { limit: 0, allowList: ['10.0.0.1'] }),
    async ({ get }) => {
      equal((await get('/', user('10.0.0.1'))).status, 429)
    },
  )

  test(
    'gives some a limit of their own, and plans theirs, over the same counters',
    (making) =>
      byUser(making, {
        overrides: { vip: 4 },
        plan: (...native) => making.header(native, 'x-plan'),
        plans: { pro: { limit: 3, period: '1m' } },
      }),
    async ({ statuses }) => {
      deepEqual(await statuses(5, '/', user('vip')), [200, 200, 200, 200, 429])
      const ada = { headers: { 'x-user': 'ada', 'x-plan': 'free' } }
      deepEqual(await statuses(3, '/', ada), [200, 200, 429])
      deepEqual(await statuses(2, '/', { headers: { ...ada.headers, 'x-plan': 'pro' } }), [200, 429])
      deepEqual(await statuses(1, '/', { headers: { 'x-user': 'eve', 'x-plan': 'constructor' } }), [200])
    },
  )

  test(
    'skips what it is told to',
    ({ header }) => ({ ...TWO, limit: 0, skip: (...native) => header(native, 'x-health') === 'yes' }),
    async ({ statuses }) => {
      deepEqual(await statuses(1, '/', { headers: { 'x-health': 'yes' } }), [200])
      deepEqual(await statuses(1), [429])
    },
  )

  test(
    'charges what a request costs',
    ({ header }) => ({ limit: 10, period: '1m', cost: (...native) => Number(header(native, 'x-cost') ?? 1) }),
    async ({ get }) => {
      const cost = (units: number) => get('/', { headers: { 'x-cost': `${units}` } })
      equal((await cost(7)).headers.ratelimit, '"default";r=3;t=60')
      equal((await cost(4)).status, 429)
      equal((await cost(3)).status, 200)
      equal((await cost(11)).headers['retry-after'], undefined)
    },
  )
}
