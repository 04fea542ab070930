import { deepEqual, equal, match } from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreError } from '@sluice/limiter'
import type { Store } from '@sluice/limiter/stores/store'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type TestOptions } from './bench.ts'
import { ANY, ruled } from './rulebooks.ts'

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

  const early: Readonly<Record<string, TestOptions>> = {
    key: TWO,
    address: TWO,
    skip: TWO,
    cost: TWO,
    limit: TWO,
    plan: { ...TWO, plans: {} },
    attributes: ruled(ANY),
    message: { ...TWO, limit: 0 },
  }
  for (const [name, options] of Object.entries(early)) {
    for (const [way, fails] of Object.entries(FAILING)) {
      test(`${name} that ${way} fails the request, and only that`, { ...options, [name]: fails }, async ({
        statuses,
      }) => {
        deepEqual(await statuses(2), [500, 500])
      })
    }
  }

  const late: Readonly<Record<string, [TestOptions, number]>> = {
    onLimitReached: [{ ...TWO, limit: 0 }, 429],
    requestWasSuccessful: [{ ...TWO, skipFailedRequests: true }, 200],
    settleCost: [TWO, 200],
    observe: [TWO, 200],
  }
  for (const [name, [options, status]] of Object.entries(late)) {
    for (const [way, fails] of Object.entries(FAILING)) {
      test(`${name} that ${way} fails nothing, and is complained of`, { ...options, [name]: fails }, async ({
        get,
        statuses,
        log,
      }) => {
        equal((await get()).status, status)
        for (let tries = 0; log.length === 0 && tries < 1_000; tries++) await pause(1)
        match(log[0]!, /of the application/)
        // The charge stands.
        if (status === 200) deepEqual(await statuses(2), [200, 429])
      })
    }
  }

  const answers: Readonly<Record<string, TestOptions>> = { deny: { ...TWO, limit: 0 }, admit: TWO }
  for (const [name, options] of Object.entries(answers)) {
    let decided = (): void => undefined
    const key = (): Promise<string> =>
      new Promise((resolve) => {
        decided = () => resolve('ada')
      })
    test(`a caller who leaves before an answer (${name}) harms nothing`, { ...options, key }, async ({
      get,
    }) => {
      const leaving = new AbortController()
      const left = get('/', { signal: leaving.signal }).catch(() => 'left')
      await untilChanged(() => decided)
      const first = decided
      leaving.abort()
      equal(await left, 'left')
      first()
      const next = get()
      await untilChanged(() => decided)
      decided()
      equal((await next).status, name === 'deny' ? 429 : 200)
    })
  }
}

const FAILING: Readonly<Record<string, () => never>> = {
  throws: () => {
    throw new Error('of the application')
  },
  rejects: () => Promise.reject(new Error('of the application')) as never,
}

/** Resolves once `read` gives something else. */
async function untilChanged(read: () => unknown): Promise<void> {
  const before = read()
  while (read() === before) await pause(1)
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
