import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { countingPlan } from '../counting.ts'
import { MAX } from '../integers.ts'
import type { NoOptions } from '../option.ts'

/** Cells before the slots: last admission, number of slots, how many of them are released, how many raise a charge. */
const HEADER = 4
/**
 * A slot is its beginning, its charge's id (negative where it raises a charge that has another slot), its units, and a
 * sum: see {@link unitsBefore}.
 */
const SLOT = 4
const [ID, UNITS, SUM] = [1, 2, 3]
/** Integers of a run that is not worth being made smaller. */
const SMALL = 64
/** So few slots are put together whenever one of them has ended. */
const FEW = 8

/**
 * At most `limit` units held at once. An admitted request holds a slot until it releases it, or until the slot's
 * time to live (`period`) is over, so that a crashed client cannot leak it. Releasing twice, or late, does nothing.
 * Waits assume that no slot is released early: sooner is possible, later is not.
 *
 * Slots are in the order in which they began, and all live equally long, so those that live are found by halving. What
 * ended stays until half of the run has, so that each step takes time in proportion to the logarithm of the slots.
 */
export const concurrency: Algorithm<Plan, NoOptions> = {
  name: 'concurrency',
  traits: { holds: true },
  options: {},
  plan: (policy) => countingPlan(concurrency, policy, 0),
  remaining: (plan, cells, offset, _last, now) => plan.capacity - held(plan, cells, offset, now),
  wait(plan, cells, offset, _last, now, cost, left) {
    if (cost <= left) return 0
    const before = unitsBefore(cells, offset, firstLive(plan, cells, offset, now))
    const slot = slotWith(cells, offset, before + (cost - left))
    return slot < count(cells, offset) ? plan.period - (now - cells[at(offset, slot)]!) : 0
  },
  room(plan, cells, now) {
    if (cells.length === 0) return HEADER + SLOT
    const all = count(cells, 0)
    const first = firstLive(plan, cells, 0, now)
    const ended = Math.max(first, cells[2]!)
    if (ended * 2 > all || (ended > 0 && all <= FEW)) putTogether(cells, 0, first)
    const kept = count(cells, 0)
    const wanted = HEADER + SLOT * (kept + 1) * 2
    if (wanted * 4 < cells.length && cells.length > SMALL) return wanted
    return HEADER + SLOT * (kept + 1) <= cells.length ? cells.length : wanted
  },
  charge(plan, cells, offset, _last, now, cost, chargeId, left, raises) {
    const taken = Math.min(cost, Math.max(0, plan.ceiling - (plan.capacity - left)))
    const isTooMuch = unitsBefore(cells, offset, count(cells, offset)) > MAX - taken
    // A store that gives no more room, or a sum that would not be exact.
    if (isFull(cells, offset) || isTooMuch) putTogether(cells, offset, firstLive(plan, cells, offset, now))
    if (isFull(cells, offset)) {
      // The last slot is held by both, until the time of the later one is over.
      const last = count(cells, offset) - 1
      cells[at(offset, last)] = now
      cells[at(offset, last) + ID] = chargeId
      addUnits(cells, offset, last, taken)
    } else append(cells, offset, now, raises === true ? -chargeId : chargeId, taken)
  },
  refund(_plan, cells, offset, _last, _now, cost, charged, chargeId) {
    let left = cost
    // Most charges have one slot, which has their instant; of several the latest is released first.
    if (cells[offset + 3] === 0) {
      const next = firstFrom(cells, offset, charged + 1)
      for (let slot = next - 1; slot >= 0 && cells[at(offset, slot)] === charged && left > 0; slot--)
        left -= release(cells, offset, slot, chargeId, left)
    }
    for (let slot = count(cells, offset) - 1; slot >= 0 && left > 0; slot--)
      left -= release(cells, offset, slot, chargeId, left)
  },
}

function count(cells: Cells, offset: number): number {
  return cells.length === 0 ? 0 : cells[offset + 1]!
}

function at(offset: number, slot: number): number {
  return offset + HEADER + SLOT * slot
}

function isFull(cells: Cells, offset: number): boolean {
  return at(offset, count(cells, offset) + 1) > cells.length
}

function firstLive(plan: Plan, cells: Cells, offset: number, now: number): number {
  return firstFrom(cells, offset, now - plan.period + 1)
}

/** The first slot that began at an instant or later. */
function firstFrom(cells: Cells, offset: number, instant: number): number {
  let low = 0
  let high = count(cells, offset)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (cells[at(offset, middle)]! < instant) low = middle + 1
    else high = middle
  }
  return low
}

function held(plan: Plan, cells: Cells, offset: number, now: number): number {
  return (
    unitsBefore(cells, offset, count(cells, offset)) -
    unitsBefore(cells, offset, firstLive(plan, cells, offset, now))
  )
}

/** The units of the first `slots` slots, by the sums of a binary indexed tree (Fenwick, 1994). */
function unitsBefore(cells: Cells, offset: number, slots: number): number {
  let units = 0
  for (let i = slots; i > 0; i -= i & -i) units += cells[at(offset, i - 1) + SUM]!
  return units
}

/** The slot with which those from the first on have so many units together; their number where they have fewer. */
function slotWith(cells: Cells, offset: number, units: number): number {
  const all = count(cells, offset)
  let slot = 0
  let missing = units
  for (let step = 2 ** (31 - Math.clz32(all)); step >= 1; step /= 2) {
    if (slot + step > all) continue
    const sum = cells[at(offset, slot + step - 1) + SUM]!
    if (sum >= missing) continue
    missing -= sum
    slot += step
  }
  return slot
}

function append(cells: Cells, offset: number, now: number, chargeId: number, units: number): void {
  const number = count(cells, offset) + 1
  const slot = at(offset, number - 1)
  let sum = units
  for (let i = 1; i < (number & -number); i *= 2) sum += cells[slot - SLOT * i + SUM]!
  cells[slot] = now
  cells[slot + ID] = chargeId
  cells[slot + UNITS] = units
  cells[slot + SUM] = sum
  cells[offset + 1] = number
  if (chargeId < 0) cells[offset + 3]! += 1
}

function addUnits(cells: Cells, offset: number, slot: number, units: number): void {
  cells[at(offset, slot) + UNITS]! += units
  const all = count(cells, offset)
  for (let i = slot + 1; i <= all; i += i & -i) cells[at(offset, i - 1) + SUM]! += units
}

/** Gives back up to `most` units of a slot, if it is that charge's. @returns how many */
function release(cells: Cells, offset: number, slot: number, chargeId: number, most: number): number {
  const units = cells[at(offset, slot) + UNITS]!
  const id = cells[at(offset, slot) + ID]!
  if (Math.abs(id) !== chargeId || units === 0) return 0
  const given = Math.min(most, units)
  addUnits(cells, offset, slot, -given)
  if (given === units) {
    cells[offset + 2]! += 1
    if (id < 0) cells[offset + 3]! -= 1
  }
  return given
}

/** Drops what expired and what was released. */
function putTogether(cells: Cells, offset: number, first: number): void {
  const all = count(cells, offset)
  cells[offset + 1] = 0
  cells[offset + 2] = 0
  cells[offset + 3] = 0
  for (let i = first; i < all; i++) {
    const slot = at(offset, i)
    if (cells[slot + UNITS]! > 0) append(cells, offset, cells[slot]!, cells[slot + ID]!, cells[slot + UNITS]!)
  }
}
