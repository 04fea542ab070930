import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { countingPlan } from '../counting.ts'
import { NEVER } from '../figures.ts'
import { MAX } from '../integers.ts'
import { keepLeft } from '../one-call.ts'
import type { NoOptions } from '../option.ts'

/** Cells before the entries: last admission, first entry's index, entries, units dropped before the first. */
const HEADER = 4
/** Integers of a run that is not worth being made smaller. */
const SMALL = 64

/**
 * Every admitted request is kept for one period: at most `limit` units in any period, exactly. An entry exactly
 * one period old no longer counts; refused requests are never kept.
 *
 * An entry is an instant and the running total up to and with it, so what is in use, and when enough of it ages
 * out, are found by bisection. Requests of one instant share an entry.
 */
export const slidingWindowLog: Algorithm<Plan, NoOptions> = {
  name: 'sliding-window-log',
  traits: {},
  options: {},
  plan: (policy) => countingPlan(slidingWindowLog, policy, 0),
  remaining: (plan, cells, offset, _last, now) => plan.capacity - used(plan, cells, offset, now),
  wait(plan, cells, offset, _last, now, cost, left) {
    if (cost <= left) return 0
    const before = total(cells, offset, live(plan, cells, offset, now) - 1)
    return waitUntil(plan, cells, offset, now, before + (cost - left))
  },
  room(plan, cells, now) {
    if (cells.length === 0) return HEADER + 2
    const end = HEADER + 2 * (cells[1]! + cells[2]! + 1)
    if (end <= cells.length && cells.length <= SMALL) return cells.length
    const kept = cells[2]! - live(plan, cells, 0, now)
    const wanted = HEADER + (kept + 1) * 4
    if (wanted * 4 < cells.length && cells.length > SMALL) {
      dropAged(plan, cells, 0, now)
      toFront(cells, 0)
      return wanted
    }
    // Doubling while more than half of the run still counts keeps the cost of moving entries constant per charge.
    return end > cells.length && wanted > cells.length ? wanted : cells.length
  },
  charge,
  refund(_plan, cells, offset, _last, _now, cost, charged) {
    const count = cells[offset + 2]!
    const entry = search(cells, offset, offset + HEADER, charged)
    if (entry === count || cells[instant(cells, offset, entry)] !== charged) return
    const given = Math.min(cost, total(cells, offset, entry) - total(cells, offset, entry - 1))
    for (let i = entry; i < count; i++) cells[instant(cells, offset, i) + 1]! -= given
  },
  read(plan, reading, cost) {
    const { cells, offset, now } = reading
    keepLeft(reading, plan.capacity - used(plan, cells, offset, now), cost)
  },
  answer(plan, reading, cost, charges) {
    const { cells, offset, last, now } = reading
    const { capacity } = plan
    if (charges) {
      charge(plan, cells, offset, last, now, cost, 0, reading.left)
      reading.left -= cost
    }
    const { left } = reading
    const remaining = Math.max(left, 0)
    const full = remaining >= capacity
    const missing = full ? 0 : total(cells, offset, live(plan, cells, offset, now) - 1) - left
    const retries = !reading.allowed && cost <= capacity
    reading.retry = reading.allowed
      ? 0
      : retries
        ? waitUntil(plan, cells, offset, now, missing + cost)
        : NEVER
    reading.more = full ? NEVER : waitUntil(plan, cells, offset, now, missing + remaining + 1)
    reading.reset = full ? 0 : waitUntil(plan, cells, offset, now, missing + capacity)
  },
}

function charge(
  plan: Plan,
  cells: Cells,
  offset: number,
  _last: number,
  now: number,
  cost: number,
  _chargeId: number,
  left: number,
): void {
  dropAged(plan, cells, offset, now)
  const count = cells[offset + 2]!
  const taken = Math.min(cost, Math.max(0, plan.ceiling - (plan.capacity - left)))
  if (count > 0 && cells[instant(cells, offset, count - 1)] === now) {
    cells[instant(cells, offset, count - 1) + 1]! += taken
    return
  }
  const sum = total(cells, offset, count - 1)
  if (instant(cells, offset, count) + 2 > cells.length) thin(cells, offset)
  const entry = cells[offset + 2]!
  cells[instant(cells, offset, entry)] = now
  cells[instant(cells, offset, entry) + 1] = sum + taken
  cells[offset + 2] = entry + 1
}

/** Units of time until so many units, since the first that the run knows of, have aged out. */
function waitUntil(plan: Plan, cells: Cells, offset: number, now: number, units: number): number {
  const entry = search(cells, offset, offset + HEADER + 1, units)
  return plan.period - (now - cells[instant(cells, offset, entry)]!)
}

function instant(cells: Cells, offset: number, entry: number): number {
  return offset + HEADER + 2 * (cells[offset + 1]! + entry)
}

/** Units up to and with `entry`; −1: those dropped before the first. */
function total(cells: Cells, offset: number, entry: number): number {
  return entry < 0 ? cells[offset + 3]! : cells[instant(cells, offset, entry) + 1]!
}

function used(plan: Plan, cells: Cells, offset: number, now: number): number {
  if (cells.length === 0) return 0
  return (
    total(cells, offset, cells[offset + 2]! - 1) - total(cells, offset, live(plan, cells, offset, now) - 1)
  )
}

/** The first entry that still counts. */
function live(plan: Plan, cells: Cells, offset: number, now: number): number {
  return search(cells, offset, offset + HEADER, now - plan.period + 1)
}

/** The first entry whose value, in the column that starts at `column`, is at least `least`. */
function search(cells: Cells, offset: number, column: number, least: number): number {
  let low = 0
  let high = cells[offset + 2]!
  const first = column + 2 * cells[offset + 1]!
  while (low < high) {
    const middle = (low + high) >>> 1
    if (cells[first + 2 * middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Where a store gave no more room: of two entries the older one ends with the newer, so that all count until then or
 * longer. The last one joins the entry that comes.
 */
function thin(cells: Cells, offset: number): void {
  const count = cells[offset + 2]!
  const kept = count >> 1
  for (let i = 0; i < kept; i++) {
    const from = instant(cells, offset, count - 2 * (kept - i))
    cells.copyWithin(instant(cells, offset, i), from, from + 2)
  }
  cells[offset + 2] = kept
}

/** Forgets entries that no longer count; moves the rest to the front where the run, or 2^53, would not hold more. */
function dropAged(plan: Plan, cells: Cells, offset: number, now: number): void {
  const aged = live(plan, cells, offset, now)
  const base = total(cells, offset, aged - 1)
  cells[offset + 1]! += aged
  cells[offset + 2]! -= aged
  cells[offset + 3] = base
  const fits = HEADER + 2 * (cells[offset + 1]! + cells[offset + 2]! + 1) <= cells.length - offset
  if (fits && total(cells, offset, cells[offset + 2]! - 1) <= MAX - plan.ceiling) return
  toFront(cells, offset)
}

/** Moves the entries to the front, and counts units from there. */
function toFront(cells: Cells, offset: number): void {
  const base = cells[offset + 3]!
  const from = instant(cells, offset, 0)
  cells.copyWithin(offset + HEADER, from, from + 2 * cells[offset + 2]!)
  for (let i = 0; i < cells[offset + 2]!; i++) cells[offset + HEADER + 2 * i + 1]! -= base
  cells[offset + 1] = 0
  cells[offset + 3] = 0
}
