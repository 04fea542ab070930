import { deepEqual, equal, ok } from 'node:assert/strict'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type TestOptions } from './bench.ts'

/** One a second, three in the queue. */
const QUEUE: TestOptions = { algorithm: 'leaky-bucket', limit: 1, period: '1s', burst: 3 }

/** Requests that are kept waiting. */
export function waits(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test('lets requests in one by one, in their turn', QUEUE, async ({ get, timers }) => {
    equal((await get()).status, 200)
    const second = get()
    await timers.until(1)
    const third = get()
    await timers.until(2)
    deepEqual(timers.waits, [1_000, 2_000])
    equal((await get()).status, 429)
    timers.fire()
    deepEqual([(await second).status, (await third).status], [200, 200])
  })

  test('gives the turn of a caller who left to the next', QUEUE, async ({ get, timers }) => {
    await get()
    const leaving = new AbortController()
    const left = get('/', { signal: leaving.signal }).catch(() => 'left')
    await timers.until(1)
    leaving.abort()
    equal(await left, 'left')
    await timers.until(0)
    const next = get()
    await timers.until(1)
    deepEqual(timers.waits, [1_000])
    timers.fire()
    equal((await next).status, 200)
  })

  test('OF-11: waits for a turn that no timer of the platform can wait for', {
    ...QUEUE,
    period: '30d',
  }, async ({ get, timers }) => {
    equal((await get()).status, 200)
    let answered = false
    const second = get().finally(() => {
      answered = true
    })
    await timers.until(1)
    let waited = 0
    while (waited < 30 * 86_400_000) {
      const [part] = timers.waits
      ok(part! < 2 ** 31, `a wait of ${part} ms would be over at once`)
      equal(answered, false)
      waited += part!
      timers.fire()
    }
    equal(waited, 30 * 86_400_000)
    equal((await second).status, 200)
  })

  test('keeps only so many waiting', { ...QUEUE, maxWaiting: 1 }, async ({ get, timers }) => {
    await get()
    const second = get()
    await timers.until(1)
    const beyond = await get()
    deepEqual([beyond.status, beyond.headers['retry-after']], [429, '2'])
    timers.fire()
    equal((await second).status, 200)
    const third = get()
    await timers.until(1)
    deepEqual(timers.waits, [2_000])
    timers.fire()
    await third
  })

  test('keeps refusals waiting, but only so many', {
    limit: 0,
    period: '1m',
    tarpit: '2s',
    maxWaiting: 1,
  }, async ({ get, timers }) => {
    const held = get()
    await timers.until(1)
    deepEqual(timers.waits, [2_000])
    equal((await get()).status, 429)
    timers.fire()
    equal((await held).status, 429)
  })
}
