import { describe, expect, it, vi } from 'vitest'
import { ConfigError } from '../../errors.ts'
import type { Cells } from '../algorithm.ts'
import { type Policy, planOf } from '../algorithms.ts'
import { droppableAt, figuresOf, instantOf } from '../figures.ts'
import type { CalendarPeriod } from '../policy.ts'
import { type CalendarPlan, calendarWindow } from './calendar-window.ts'

const us = (iso: string): number => Date.parse(iso) * 1_000
const HOUR_MS = 3_600_000

function planFor(period: CalendarPeriod, limit = 3, more: Partial<Policy> = {}): CalendarPlan {
  return planOf({ algorithm: 'fixed-window', limit, period, ...more }) as CalendarPlan
}

/** As a store does: look, charge if it fits, note the instant. */
function decide(plan: CalendarPlan, cells: Cells, nowTicks: number, cost = 1): ReturnType<typeof figuresOf> {
  const now = instantOf(cells, 0, nowTicks)
  const before = calendarWindow.remaining(plan, cells, 0, 0, now)
  const allowed = cost <= Math.max(0, before)
  if (allowed && cost > 0) {
    calendarWindow.charge(plan, cells, 0, 0, now, cost, 0, before)
    cells[0] = now
  }
  const left = plan.algorithm.remaining(plan, cells, 0, 0, now)
  return figuresOf(plan, { cells, offset: 0, last: 0, now, ticks: now, left, allowed, delay: 0 }, cost)
}

describe('a calendar limit', () => {
  const paris: CalendarPeriod = { calendar: 'day', zone: 'Europe/Paris' }

  it('tells the wait to local midnight, also on a day of 25 hours (FB-085)', () => {
    const plan = planFor(paris, 1)
    const cells = new Float64Array(4)
    const now = us('2026-10-24T22:30Z')
    expect(decide(plan, cells, now)).toMatchObject({
      allowed: true,
      remaining: 0,
      resetAfterMs: 24.5 * HOUR_MS,
    })
    expect(decide(plan, cells, now)).toMatchObject({ allowed: false, retryAfterMs: 24.5 * HOUR_MS })
    const midnight = us('2026-10-25T23:00Z')
    expect(decide(plan, cells, midnight - 1)).toMatchObject({ allowed: false, retryAfterMs: 0.001 })
    expect(decide(plan, cells, midnight)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('promises a 02:30 that does not exist for 03:00 (FB-085)', () => {
    const plan = planFor({ ...paris, anchor: { time: '02:30' } }, 1)
    const cells = new Float64Array(4)
    decide(plan, cells, us('2026-03-28T12:00Z'))
    expect(decide(plan, cells, us('2026-03-29T00:00Z'))).toMatchObject({ retryAfterMs: HOUR_MS })
  })

  it('writes nothing on a refusal or a look', () => {
    const plan = planFor(paris, 2)
    const cells = new Float64Array(4)
    decide(plan, cells, us('2026-05-05T12:00Z'), 0)
    expect([...cells]).toEqual([0, 0, 0, 0])
    decide(plan, cells, us('2026-05-05T12:00Z'), 2)
    const before = [...cells]
    decide(plan, cells, us('2026-05-05T13:00Z'))
    decide(plan, cells, us('2026-05-07T13:00Z'), 3)
    expect([...cells]).toEqual(before)
  })

  it('never admits a cost above the limit, nor anything at limit 0', () => {
    const now = us('2026-05-05T12:00Z')
    expect(decide(planFor(paris, 2), new Float64Array(4), now, 3).retryAfterMs).toBeNull()
    expect(decide(planFor(paris, 0), new Float64Array(4), now).retryAfterMs).toBeNull()
  })

  it('keeps the end with which a live window opened, then takes up the calendar again', () => {
    const plan = planFor({ calendar: 'day' }, 1)
    const opened = us('2026-05-05T00:00Z')
    const moved = us('2026-05-06T01:00Z') // as another version of the zone had it
    const cells = Float64Array.of(opened, 1, opened, moved)
    expect(decide(plan, cells, us('2026-05-06T00:30Z'))).toMatchObject({
      allowed: false,
      retryAfterMs: HOUR_MS / 2,
    })
    expect(decide(plan, cells, moved).allowed).toBe(true)
    expect([...cells.subarray(2)]).toEqual([us('2026-05-06T00:00Z'), us('2026-05-07T00:00Z')])
  })

  it('holds a clock that steps back over midnight at the last admission', () => {
    const plan = planFor({ calendar: 'day' }, 2)
    const cells = new Float64Array(4)
    const midnight = us('2026-05-06T00:00Z')
    decide(plan, cells, midnight)
    expect(decide(plan, cells, midnight - 1_000_000)).toMatchObject({ allowed: true, remaining: 0 })
    expect(decide(plan, cells, midnight - 1_000_000)).toMatchObject({
      allowed: false,
      retryAfterMs: 24 * HOUR_MS,
    })
  })

  it('keeps what was used when the limit changes', () => {
    const cells = new Float64Array(4)
    const now = us('2026-05-05T12:00Z')
    const [three, five, one] = [3, 5, 1].map((limit) => planFor(paris, limit))
    decide(three!, cells, now, 2)
    expect(three!.kind).toBe(five!.kind)
    expect(decide(five!, cells, now, 0).remaining).toBe(3)
    expect(decide(one!, cells, now, 0)).toMatchObject({ remaining: 0, resetAfterMs: 10 * HOUR_MS })
  })

  it('may be dropped at the end of its window, not before', () => {
    const plan = planFor(paris)
    const cells = new Float64Array(4)
    decide(plan, cells, us('2026-05-05T12:00Z'))
    expect(droppableAt(plan, cells, 0)).toBe(us('2026-05-05T22:00Z'))
  })
})

describe('a correction of a calendar limit', () => {
  const plan = planFor({ calendar: 'day' }, 3)
  const noon = us('2026-05-05T12:00Z')
  const midnight = us('2026-05-06T00:00Z')
  const refund = (cells: Cells, now: number, cost: number, charged: number): number => {
    calendarWindow.refund(plan, cells, 0, 0, now, cost, charged, 0)
    return calendarWindow.remaining(plan, cells, 0, 0, now)
  }

  it('gives back within the window, and never more than was used', () => {
    const cells = new Float64Array(4)
    decide(plan, cells, noon, 3)
    expect(refund(cells, noon + 1, 2, noon)).toBe(2)
    expect(refund(cells, noon + 1, 9, noon)).toBe(3)
  })

  it('never gives back to a window in which the charge was not made', () => {
    const cells = new Float64Array(4)
    decide(plan, cells, midnight - 1, 1)
    decide(plan, cells, midnight, 2)
    expect(refund(cells, midnight, 1, midnight - 1)).toBe(1)
    expect(refund(cells, midnight, 1, midnight)).toBe(2)
    expect(refund(cells, midnight, 1, midnight + 24 * HOUR_MS * 1_000)).toBe(2)
  })

  it('means nothing to a key never seen', () => {
    expect(refund(new Float64Array(4), noon, 1, noon)).toBe(3)
  })

  it('charges into debt up to twice the limit, which ends with the window', () => {
    const cells = new Float64Array(4)
    calendarWindow.charge(plan, cells, 0, 0, noon, 100, 0, plan.capacity)
    cells[0] = noon
    expect(calendarWindow.remaining(plan, cells, 0, 0, noon)).toBe(-3)
    expect(calendarWindow.remaining(plan, cells, 0, 0, midnight)).toBe(3)
  })
})

describe('a calendar plan', () => {
  it('has one kind for one set of windows', () => {
    const kinds = (...periods: CalendarPeriod[]) =>
      new Set(periods.map((period) => planFor(period).kind)).size
    expect(
      kinds(
        { calendar: 'month' },
        { calendar: 'month', zone: 'utc', anchor: {} },
        { calendar: 'month', zone: 'UTC', anchor: { day: 1, time: '00:00' } },
      ),
    ).toBe(1)
    expect(
      kinds(
        { calendar: 'month' },
        { calendar: 'year' },
        { calendar: 'month', zone: 'Europe/Paris' },
        { calendar: 'month', anchor: { day: 2 } },
        { calendar: 'month', anchor: { time: '02:30' } },
      ),
    ).toBe(5)
  })

  it('refuses what would mean nothing to it', () => {
    const period: CalendarPeriod = { calendar: 'day' }
    for (const more of [{ burst: 5 }, { refill: 'interval' }, { rounding: 'up' }] as const) {
      expect(() => planFor(period, 3, more)).toThrow(ConfigError)
    }
    expect(() => planFor(period, -1)).toThrow(ConfigError)
    expect(() => planFor({ ...period, zone: 'Europe/Pariss' })).toThrow('did you mean Europe/Paris?')
    expect(() => planFor(null as never)).toThrow(ConfigError)
  })

  it('asks for the zone once a window, however many keys and requests there are', () => {
    const plan = planFor({ calendar: 'day', zone: 'Europe/Paris' }, 3)
    const noon = us('2026-05-05T12:00Z')
    const first = new Float64Array(4)
    decide(plan, first, noon)
    const asked = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
    try {
      decide(plan, first, noon + 1)
      decide(plan, new Float64Array(4), noon + 2)
      decide(plan, new Float64Array(4), noon + 3, 0)
      expect(asked).not.toHaveBeenCalled()
      decide(plan, new Float64Array(4), us('2026-05-06T12:00Z'))
      expect(asked).toHaveBeenCalled()
    } finally {
      asked.mockRestore()
    }
  })
})
