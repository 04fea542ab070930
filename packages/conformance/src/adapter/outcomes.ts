import { deepEqual, equal } from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, type Application, benches, type TestOptions } from './bench.ts'

const FIVE: TestOptions = { limit: 5, period: '300ms' }
/** Answers `/fail` with 500, and `/held/…` only when released. */
const byPath: Application = ({ path }) => ({ status: path.startsWith('/fail') ? 500 : 200 })

/** What becomes of a charge once the outcome is known. */
export function outcomes(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test(
    'counts failures alone',
    { ...FIVE, skipSuccessfulRequests: true },
    async ({ statuses }) => {
      deepEqual(await statuses(7), Array(7).fill(200))
      deepEqual(await statuses(6, '/fail'), [500, 500, 500, 500, 500, 429])
    },
    byPath,
  )

  test(
    'counts successes alone',
    { ...FIVE, skipFailedRequests: true },
    async ({ statuses }) => {
      deepEqual(await statuses(7, '/fail'), Array(7).fill(500))
      deepEqual(await statuses(6), [200, 200, 200, 200, 200, 429])
    },
    byPath,
  )

  test(
    'lets the application say what is a failure',
    {
      ...FIVE,
      limit: 1,
      skipFailedRequests: true,
      requestWasSuccessful: (...args: readonly unknown[]) =>
        (args.at(-1) as { status: number }).status !== 202,
    },
    async ({ statuses }) => {
      deepEqual(await statuses(4), [202, 202, 202, 202])
    },
    () => ({ status: 202 }),
  )

  const held = gathering()
  test(
    'T15: of ten at once no more than the limit are let in, whatever becomes of them',
    { ...FIVE, skipSuccessfulRequests: true },
    async ({ get }) => {
      const replies = Array.from({ length: 10 }, () => get())
      await held.until(5)
      const refused = await Promise.all((await settledOf(replies, 5)).map(({ status }) => status))
      deepEqual(refused, Array(5).fill(429))
      held.release()
      const all = (await Promise.all(replies)).map(({ status }) => status)
      equal(all.filter((status) => status === 200).length, 5)
      equal((await get()).headers.ratelimit, '"default";r=4;t=1')
    },
    held.application,
  )

  const slow = gathering()
  test(
    'T12: a charge of an earlier window is not given back to this one',
    { ...FIVE, limit: 3, skipSuccessfulRequests: true },
    async ({ get, clock, statuses }) => {
      const early = [get(), get(), get()]
      await slow.until(3)
      clock.advance(300)
      deepEqual(await statuses(3, '/fail'), [500, 500, 500])
      slow.release()
      await Promise.all(early)
      deepEqual(await statuses(1, '/fail'), [429])
    },
    (request) => (request.path === '/fail' ? byPath(request) : slow.application(request)),
  )

  test('settles what a request really cost', {
    limit: 1_000,
    period: '1m',
    cost: 100,
    settleCost: () => 250,
  }, async ({ get }) => {
    await get()
    equal((await get()).headers.ratelimit, '"default";r=650;t=60')
  })

  const working = gathering()
  test(
    'holds a place for as long as a request lasts',
    { policies: { work: { algorithm: 'concurrency', limit: 1, period: '1m' } } },
    async ({ get }) => {
      const first = get()
      await working.until(1)
      equal((await get()).status, 429)
      working.release()
      equal((await first).status, 200)
      equal((await get()).status, 200)
    },
    working.application,
  )

  const left = gathering()
  test(
    'gives the place up when the caller leaves',
    { policies: { work: { algorithm: 'concurrency', limit: 1, period: '1m' } } },
    async ({ get }) => {
      const leaving = new AbortController()
      const first = get('/', { signal: leaving.signal }).catch(() => undefined)
      await left.until(1)
      leaving.abort()
      await first
      left.release()
      for (let tries = 0; tries < 100; tries++) if ((await get()).status === 200) return
      throw new Error('the place was never given up')
    },
    left.application,
  )

  let decided: (() => void) | undefined
  test('gives the place up of a caller who left before it was decided', {
    policies: { work: { algorithm: 'concurrency', limit: 1, period: '1m' } },
    skip: () =>
      decided !== undefined
        ? false
        : new Promise<false>((resolve) => {
            decided = () => resolve(false)
          }),
  }, async ({ get }) => {
    const leaving = new AbortController()
    const first = get('/', { signal: leaving.signal }).catch(() => undefined)
    while (decided === undefined) await pause(1)
    leaving.abort()
    await first
    await pause(20) // until the server knows: as long as it does not, the place is given up all the same
    decided()
    for (let tries = 0; tries < 100; tries++) if ((await get()).status === 200) return
    throw new Error('the place was never given up')
  })
}

/** The first so many replies to arrive. */
function settledOf<T>(replies: readonly Promise<T>[], count: number): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const settled: T[] = []
    for (const reply of replies) {
      reply.then((value) => settled.push(value) === count && resolve(settled), reject)
    }
  })
}

/** An application that keeps requests until it is released, and from then on keeps none. */
function gathering(): { application: Application; until(count: number): Promise<void>; release(): void } {
  let inside = 0
  let changed = (): void => undefined
  let release = (): void => undefined
  const open = new Promise<void>((resolve) => {
    release = resolve
  })
  return {
    release: () => release(),
    async until(count) {
      while (inside < count) {
        await new Promise<void>((resolve) => {
          changed = resolve
        })
      }
    },
    async application() {
      inside++
      changed()
      await open
      return {}
    },
  }
}
