import { deepEqual, equal, match } from 'node:assert/strict'
import { StoreError } from '@sluice/limiter'
import type { Store } from '@sluice/limiter/stores/store'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type TestOptions } from './bench.ts'

const TWO: TestOptions = { limit: 2, period: '1m' }

/** What happens when something fails: never a request that is silently let through or shut out. */
export function failures(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test('T63: a broken store lets in, by default, and pretends no figures', {
    ...TWO,
    store: brokenStore(),
  }, async ({ get, log }) => {
    const { status, headers, body } = await get()
    deepEqual([status, headers.ratelimit, JSON.parse(body).policy], [200, undefined, ''])
    equal(log.length, 1)
  })

  test('T63: a broken store answers 503, never 429, where that is said', {
    ...TWO,
    store: brokenStore(),
    onStoreError: 'closed',
  }, async ({ get }) => {
    const { status, headers, body } = await get()
    equal(status, 503)
    match(headers['retry-after']!, /^[1-9]\d*$/)
    match(JSON.parse(body).type, /temporary-reduced-capacity$/)
  })

  test('a broken store is stood in for by this process, where that is said', {
    ...TWO,
    store: brokenStore(),
    onStoreError: 'local',
  }, async ({ statuses }) => {
    deepEqual(await statuses(3), [200, 200, 503])
  })

  test('T63: a store that never answers is the same as a broken one', {
    ...TWO,
    store: storeThat(hangs),
    onStoreError: 'closed',
    deadlineMs: 5,
  }, async ({ get }) => {
    equal((await get()).status, 503)
  })

  for (const limit of [Number.NaN, undefined, -1, 1.5, '100']) {
    test(`T59: a function that gives ${String(limit)} (${typeof limit}) for a limit fails the request`, {
      ...TWO,
      limit: () => limit as number,
    }, async ({ get }) => {
      equal((await get()).status, 500)
    })
  }

  test('a function that gives 0 for a limit refuses', { ...TWO, limit: async () => 0 }, async ({ get }) => {
    equal((await get()).status, 429)
  })

  for (const name of ['key', 'skip', 'cost', 'limit'] as const) {
    const throws = (): never => {
      throw new Error('of the application')
    }
    test(`an exception in ${name} fails the request`, { ...TWO, [name]: throws }, async ({ get }) => {
      equal((await get()).status, 500)
    })
  }

  test('an exception in a hook fails nothing', {
    ...TWO,
    limit: 0,
    onLimitReached: () => Promise.reject(new Error('of the hook')),
  }, async ({ get, log }) => {
    equal((await get()).status, 429)
    match(log[0]!, /of the hook/)
  })
}

/** A store whose connection is gone. */
export function brokenStore(): Store<true> {
  return storeThat(() => {
    throw new StoreError('the connection is gone')
  })
}

function hangs(): Promise<never> {
  return new Promise(() => undefined)
}

function storeThat(fails: () => Promise<never>): Store<true> {
  return {
    async: true,
    decide: async () => fails(),
    settle: async () => fails(),
    reset: async () => fails(),
    block: async () => fails(),
    close: async () => undefined,
  }
}
