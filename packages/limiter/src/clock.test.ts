import { afterEach, describe, expect, it, vi } from 'vitest'
import { monotonicClock, turnClock, wallClock } from './clock.ts'
import { createLimiter } from './limiter.ts'
import { MemoryStore } from './stores/memory.ts'
import { FakeClock } from './testing.ts'

afterEach(() => vi.restoreAllMocks())

describe('the monotonic clock', () => {
  it('does not step when the wall clock does', () => {
    const clock = monotonicClock()
    const before = clock.now()
    vi.spyOn(Date, 'now').mockReturnValue(0)
    expect(clock.now()).toBeGreaterThanOrEqual(before)
  })
})

describe('a clock that is read once a turn', () => {
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  it('stands still within a turn, also after promises, and goes on in the next', async () => {
    const read = new FakeClock()
    const clock = turnClock(read)
    const before = clock.now()
    read.advance(5)
    await Promise.resolve()
    expect(clock.now()).toBe(before)
    await nextTurn()
    expect(clock.now()).toBe(before + 5_000)
  })

  it('makes decisions of one turn at one instant: none admits more, and no wait is too short', async () => {
    const read = new FakeClock()
    const policies = { p: { algorithm: 'gcra', limit: 10, period: '1s', burst: 1 } } as const
    const limiter = createLimiter({ store: new MemoryStore({ clock: turnClock(read) }), policies })
    expect(limiter.allow('a')).toBe(true)
    read.advance(99)
    expect(limiter.check('a')).toMatchObject({ allowed: false, retryAfterMs: 100 })
    await nextTurn()
    expect(limiter.check('a')).toMatchObject({ allowed: false, retryAfterMs: 1 })
    read.advance(1)
    await nextTurn()
    expect(limiter.allow('a')).toBe(true)
  })

  it('asks a clock again that has failed', async () => {
    let reads = 0
    const read = (): number => {
      if (++reads === 1) throw new Error('no clock')
      return 5
    }
    const clock = turnClock({ now: read })
    expect(() => clock.now()).toThrow('no clock')
    expect(clock.now()).toBe(5)
    await nextTurn()
  })

  it('reads the monotonic clock where none is given', async () => {
    const clock = turnClock()
    expect(Math.abs(clock.now() - monotonicClock().now())).toBeLessThan(60_000_000)
    await nextTurn()
  })
})

describe('the wall clock', () => {
  it('goes on with the monotonic one, and notices within a second that it was set', () => {
    const at = 1_650_000_000_000_999
    const wall = vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000)
    const now = wallClock()
    expect(now(at)).toBe(1_700_000_000_000)
    wall.mockReturnValue(1_600_000_000_000)
    expect(now(at + 999_000)).toBe(1_700_000_000_999)
    expect(now(at + 1_000_000)).toBe(1_600_000_000_000)
  })

  it('asks the monotonic one itself where nobody has', () => {
    const now = wallClock()
    expect(Math.abs(now() - Date.now())).toBeLessThan(60_000)
    expect(Number.isInteger(now())).toBe(true)
  })
})
