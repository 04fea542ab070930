import { describe, expect, it } from 'vitest'
import { createLimiter, type Decision, LimitExceeded, type LimiterPolicy, MemoryStore } from './index.ts'
import { createQueue, type WaitOptions } from './queue.ts'
import { FakeClock, FakeTimers } from './testing.ts'

/** A queue in a world whose time moves only by `run`: what its timers are for happens in order. */
function setUp(policies: Readonly<Record<string, LimiterPolicy>>) {
  const clock = new FakeClock()
  const start = clock.now()
  const timers = new FakeTimers(clock)
  const limiter = createLimiter({ store: new MemoryStore({ clock }), policies })
  const queue = createQueue(limiter, { clock, timers })
  const nowMs = (): number => (clock.now() - start) / 1_000
  const run = (untilMs: number) => timers.run(untilMs - nowMs())
  const quiet = () => timers.run(0)
  const log: string[] = []
  const noted = (name: string, promise: Promise<Decision>): void => {
    const note = (what: string) => log.push(`${name} ${what} ${Math.round(nowMs())}`)
    promise.then(
      () => note('in'),
      (error) => note(error instanceof LimitExceeded ? `out(${error.retryAfterMs})` : String(error)),
    )
  }
  const wait = (name: string, options?: WaitOptions, key = 'k') => noted(name, queue.wait(key, options))
  return { queue, limiter, run, log, wait, timers, nowMs, quiet }
}

const window: LimiterPolicy = { algorithm: 'fixed-window', limit: 1, period: '1s' }
const KINDS: Readonly<Record<string, LimiterPolicy>> = {
  'token-bucket': { algorithm: 'token-bucket', limit: 1, period: '1s' },
  gcra: { algorithm: 'gcra', limit: 1, period: '1s' },
  'fixed-window': window,
  'sliding-window-log': { algorithm: 'sliding-window-log', limit: 1, period: '1s' },
}

describe('a queue', () => {
  it.each(Object.entries(KINDS))('%s: admits in order, each as soon as it is possible', async (_, policy) => {
    const { wait, run, log, timers } = setUp({ p: policy })
    for (const name of ['a', 'b', 'c', 'd']) wait(name)
    wait('other', {}, 'l')
    await run(10_000)
    expect(log).toEqual(['a in 0', 'other in 0', 'b in 1000', 'c in 2000', 'd in 3000'])
    expect(timers.size).toBe(0)
  })

  it.each(Object.entries(KINDS))(
    '%s: refuses at once what would take longer, of those behind too',
    async (_, policy) => {
      const { wait, run, log } = setUp({ p: policy })
      wait('a', { maxWaitMs: 0 })
      wait('b', { maxWaitMs: 1_000 })
      wait('c', { maxWaitMs: 1_999 })
      wait('d', { maxWaitMs: 2_000 })
      wait('e', { maxWaitMs: 0 })
      await run(0)
      expect(log).toEqual(['a in 0', 'c out(2000) 0', 'e out(3000) 0'])
      await run(10_000)
      expect(log.slice(3)).toEqual(['b in 1000', 'd in 2000'])
    },
  )

  it('does not let a small cost overtake a large one', async () => {
    const { wait, run, log } = setUp({ p: { algorithm: 'token-bucket', limit: 10, period: '10s' } })
    wait('first', { cost: 8 })
    wait('large', { cost: 9 })
    wait('small', { cost: 1 })
    wait('small, in a hurry', { cost: 1, maxWaitMs: 7_999 })
    await run(20_000)
    expect(log).toEqual(['first in 0', 'small, in a hurry out(8000) 0', 'large in 7000', 'small in 8000'])
  })

  it('never waits for what cannot be, and lets the next one in', async () => {
    const { wait, run, log } = setUp({ p: { ...window, limit: 2 } })
    wait('much', { cost: 3 })
    wait('a')
    await run(0)
    expect(log).toEqual(['much out(null) 0', 'a in 0'])
  })

  it('gives the place back to those behind when a caller leaves', async () => {
    const { wait, run, log, timers } = setUp({ p: window })
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()]
    wait('a')
    wait('b', { signal: first.signal })
    wait('c', { signal: second.signal })
    wait('d')
    await run(500)
    first.abort('gone')
    second.abort('gone')
    third.abort('gone')
    wait('e', { signal: third.signal })
    await run(10_000)
    expect(log).toEqual(['a in 0', 'b gone 500', 'c gone 500', 'e gone 500', 'd in 1000'])
    expect(timers.size).toBe(0)
  })

  it('waits for its turn in a leaky bucket, and gives the charge back when the caller leaves', async () => {
    const { wait, run, log, limiter } = setUp({ p: { algorithm: 'leaky-bucket', limit: 10, period: '10s' } })
    const leaving = new AbortController()
    wait('a')
    wait('b')
    wait('c', { signal: leaving.signal })
    wait('d', { maxWaitMs: 2_000 })
    await run(0)
    expect(log).toEqual(['a in 0', 'd out(3000) 0'])
    expect(limiter.peek('k').remaining).toBe(7)
    leaving.abort('gone')
    await run(0)
    expect(limiter.peek('k').remaining).toBe(8)
    await run(5_000)
    expect(log.slice(2)).toEqual(['c gone 0', 'b in 1000'])
  })

  it('runs so many jobs at once, in order, and releases their slots however they end', async () => {
    const { queue, run, limiter, quiet } = setUp({
      slots: { algorithm: 'concurrency', limit: 2, period: '1h' },
      rate: { algorithm: 'fixed-window', limit: 100, period: '1h' },
    })
    const done: ((fail?: boolean) => void)[] = []
    const started: number[] = []
    const job = queue.wrap(
      (n: number) =>
        new Promise<number>((resolve, reject) => {
          started.push(n)
          done.push((fail) => (fail ? reject(new Error('failed')) : resolve(n)))
        }),
      { key: 'jobs', cost: (n) => ({ rate: n }) },
    )
    const results = Promise.allSettled([1, 2, 3, 4].map((n) => job(n)))
    await run(0)
    expect(started).toEqual([1, 2])
    done[1]!(true)
    await quiet()
    expect(started).toEqual([1, 2, 3])
    done[0]!()
    await quiet()
    done[2]!()
    done[3]!()
    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(limiter.peek('jobs').policies.map(({ remaining }) => remaining)).toEqual([2, 90])
  })

  it('notices slots that others release, and gives up in time', async () => {
    const { wait, run, log, limiter } = setUp({ p: { algorithm: 'concurrency', limit: 1, period: '1h' } })
    const held = limiter.check('k')
    wait('a')
    wait('b', { maxWaitMs: 2_500 })
    await run(1_500)
    limiter.refund(held, 0)
    await run(10_000)
    expect(log).toEqual(['a in 2000', 'b out(3599500) 2500'])
  })

  it('Acceptance 12.7: serves by priority, then in order of arrival', async () => {
    const { queue, run, nowMs } = setUp({
      p: { algorithm: 'token-bucket', limit: 10, period: '1s', burst: 1 },
    })
    const started: { readonly at: number; readonly i: number; readonly priority: number }[] = []
    for (let i = 0; i < 100; i++) {
      const priority = [3, 7, 0][i % 3]!
      void queue.schedule('jobs', () => void started.push({ at: nowMs(), i, priority }), { priority })
    }
    await run(20_000)
    expect(started).toHaveLength(100)
    for (const [n, { at }] of started.slice(1).entries())
      expect(at - started[n]!.at).toBeGreaterThanOrEqual(95)
    const [, ...behind] = started // the first had nobody to wait for
    expect(behind).toEqual([...behind].sort((a, b) => a.priority - b.priority || a.i - b.i))
  })

  it('Acceptance 12.3: keys that share a limit get the same of it, whatever they ask for', async () => {
    const shared: LimiterPolicy = { algorithm: 'token-bucket', limit: 30, period: '1s', burst: 1, key: 'all' }
    const own: LimiterPolicy = { algorithm: 'token-bucket', limit: 1_000, period: '1s', key: 'user' }
    const { queue, run } = setUp({ own, shared })
    const got: Record<string, number> = {}
    for (const [user, asks] of Object.entries({ a: 300, b: 300, c: 3_000 })) {
      for (let i = 0; i < asks; i++) {
        const key = { user, all: 'all' } as unknown as string
        void queue.wait(key).then(() => {
          got[user] = (got[user] ?? 0) + 1
        })
      }
    }
    await run(10_000)
    for (const count of Object.values(got)) expect(Math.abs(count - 100)).toBeLessThanOrEqual(2)
  })

  it('refuses at once whoever finds no place, and nobody whose turn is free', async () => {
    const { clock, timers } = { clock: new FakeClock(), timers: undefined as never }
    const limiter = createLimiter({ store: new MemoryStore({ clock }), policies: { p: window } })
    const queue = createQueue(limiter, { clock, maxWaiting: 2, timers })
    const leaving = new AbortController()
    const waits = ['a', 'b', 'c'].map(() => queue.wait('k', { signal: leaving.signal }))
    await expect(queue.wait('k')).rejects.toMatchObject({
      code: 'ERR_SLUICE_QUEUE_FULL',
      retryAfterMs: 1_000,
    })
    await expect(queue.wait('free')).resolves.toMatchObject({ allowed: true })
    leaving.abort('gone')
    await Promise.allSettled(waits)
  })

  it('Acceptance 12.7: drains: takes no others, and waits for those who wait and for their jobs', async () => {
    const { queue, run, quiet } = setUp({ p: window })
    let end: (() => void) | undefined
    const done: string[] = []
    void queue.schedule('k', () => undefined)
    void queue.schedule('k', () => new Promise<void>((resolve) => (end = resolve)))
    const drained = queue.drain().then(() => done.push('drained'))
    await expect(queue.wait('other')).rejects.toMatchObject({
      code: 'ERR_SLUICE_QUEUE_FULL',
      retryAfterMs: null,
    })
    await run(1_000)
    expect(done).toEqual([])
    end!()
    await quiet()
    await drained
    expect(done).toEqual(['drained'])
  })

  it('refuses a priority that is none', async () => {
    const { queue } = setUp({ p: window })
    for (const priority of [-1, 8, 1.5])
      await expect(queue.wait('k', { priority })).rejects.toThrow(
        'priority must be a whole number from 0 to 7',
      )
  })
})
