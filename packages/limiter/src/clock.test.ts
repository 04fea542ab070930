import { afterEach, describe, expect, it, vi } from 'vitest'
import { monotonicClock, wallClock } from './clock.ts'

afterEach(() => vi.restoreAllMocks())

describe('the monotonic clock', () => {
  it('does not step when the wall clock does', () => {
    const clock = monotonicClock()
    const before = clock.now()
    vi.spyOn(Date, 'now').mockReturnValue(0)
    expect(clock.now()).toBeGreaterThanOrEqual(before)
  })
})

describe('the wall clock', () => {
  it('goes on with the monotonic one, and notices within a second that it was set', () => {
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(5_000)
    const wall = vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000)
    const now = wallClock()
    expect(now()).toBe(1_700_000_000_000)
    monotonic.mockReturnValue(5_999)
    wall.mockReturnValue(1_600_000_000_000)
    expect(now()).toBe(1_700_000_000_999)
    monotonic.mockReturnValue(6_000)
    expect(now()).toBe(1_600_000_000_000)
  })
})
