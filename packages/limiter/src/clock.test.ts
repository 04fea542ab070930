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
