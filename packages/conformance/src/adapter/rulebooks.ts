import { deepEqual, equal } from 'node:assert/strict'
import { compile, type Limit } from '@sluice/limiter/rules'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type TestOptions } from './bench.ts'

export const ANY: Limit = {
  name: 'any',
  key: ['ip'],
  limit: { limit: 3, period: '1m' },
  algorithm: 'fixed-window',
  cost: 1,
  onLimit: 'deny',
  mode: 'enforce',
  onStoreError: 'open',
  onMissingKey: 'skip',
  exempt: [],
  overrides: [],
  replaces: [],
}

export function ruled(...limits: Limit[]): TestOptions {
  return { rules: compile([{ name: 'shop', limits, descriptors: [] }]), domain: 'shop' }
}

/** Limits that a rulebook states. */
export function rulebooks(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test(
    'FB-064: however a path is spelt, it is one',
    ruled({ ...ANY, key: ['path'], when: { path: ['/lang'] } }),
    async ({ statuses }) => {
      const spelt: number[] = []
      for (const path of ['/lang', '/LANG', '/lang/', '//lang?x=1', '/%6Cang'])
        spelt.push(...(await statuses(1, path)))
      deepEqual(spelt, [200, 200, 200, 429, 429])
      deepEqual(await statuses(1, '/other'), [200])
    },
  )

  test(
    'gives rules the method, host, query, headers and address',
    ruled({
      ...ANY,
      limit: { limit: 0, period: '1m' },
      when: {
        method: ['GET'],
        host: ['shop.test'],
        query: { q: ['a b'] },
        header: { 'x-client': ['app'] },
        ip: ['127.0.0.1'],
      },
    }),
    async ({ get }) => {
      const headers = { host: 'shop.test', 'x-client': 'app' }
      equal((await get('/?q=a%20b', { headers })).status, 429)
      equal((await get('/?q=a', { headers })).status, 200)
      equal((await get('/?q=a%20b', { headers: { ...headers, host: 'other.test' } })).status, 200)
    },
  )

  test(
    'gives rules what only the application knows',
    ({ header }) => ({
      ...ruled({ ...ANY, key: ['user'], limit: { limit: 1, period: '1m' } }),
      attributes: (...native) => ({ user: header(native, 'x-user') }),
    }),
    async ({ statuses }) => {
      deepEqual(await statuses(2, '/', { headers: { 'x-user': 'ada' } }), [200, 429])
      deepEqual(await statuses(1, '/', { headers: { 'x-user': 'bob' } }), [200])
    },
  )

  test(
    'tells a caller of a cost that cannot be read',
    ruled({ ...ANY, cost: 'header:x-cost' }),
    async ({ get }) => {
      equal((await get('/', { headers: { 'x-cost': '-1' } })).status, 400)
    },
  )

  test('settles each rule by its name', {
    ...ruled({ ...ANY, name: 'calls' }, { ...ANY, name: 'tokens', limit: { limit: 100, period: '1m' } }),
    settleCost: () => ({ tokens: 40 }),
  }, async ({ get }) => {
    await get()
    equal((await get()).headers.ratelimit, '"calls";r=1;t=60, "tokens";r=59;t=60')
  })
}
