import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import { NO_CELLS } from '../../core/decide/run.ts'
import type { Fingerprint } from './fingerprint.ts'
import type { SlotSegment } from './segment.ts'
import { type SlotOwner, SlotTable } from './slot-table.ts'
import { type Budget, DUE_BY_KEY, Keeps, type MemorySlot, OVERFLOW, type StateTable } from './state-table.ts'

/** Slots looked at for a state that has expired, before a new key has to share a bucket. */
const LOOKS_FOR_ROOM = 64

/**
 * The states of one policy with a fixed number of integers. No object and no timer for any key; states that have
 * expired are swept.
 */
export class FixedStates implements StateTable, SlotOwner {
  lastPlan: StatePlan
  namespace = ''
  next: StateTable | undefined = undefined
  readonly keeps: Keeps
  readonly #size: number
  readonly #budget: Budget
  readonly #print: Fingerprint
  readonly #table: SlotTable
  /** Microseconds. It is the same for all plans of the table, also where only some of them keep levels. */
  readonly #period: number
  readonly #spare: Cells
  /** The buckets that keys beyond the cap share; `undefined` while there are none. */
  #overflow: Cells | undefined = undefined
  /** The largest phase of a key in a shared bucket. */
  #lag = 0

  constructor(plan: StatePlan, budget: Budget, print: Fingerprint) {
    this.keeps = new Keeps(plan)
    this.lastPlan = plan
    this.#size = plan.size
    this.#budget = budget
    this.#print = print
    this.#period = plan.period * plan.unit
    this.#table = new SlotTable(plan.size, plan.algorithm.isLevel === true ? this.#period : 0, budget)
    this.#spare = new Float64Array(plan.size)
  }

  get count(): number {
    return this.#table.count
  }

  get version(): number {
    return this.#table.version
  }

  get isEmpty(): boolean {
    return this.#table.count === 0 && this.#overflow === undefined
  }

  get isAtEnd(): boolean {
    return this.#table.isAtEnd
  }

  find(key: string, now: number, slot: MemorySlot): void {
    const table = this.#table
    slot.table = this
    slot.cells = NO_CELLS
    slot.offset = 0
    slot.isInPlace = false
    if (table.count === 0 && this.#overflow === undefined) return
    const print = this.#print
    print.of(key)
    if (table.find(print.high, print.low)) this.#point(slot)
    else if (this.#overflow !== undefined) this.#findShared(now, slot)
  }

  place(key: string, now: number, slot: MemorySlot): void {
    this.#print.of(key)
    const isMissed = this.#overflow === undefined && this.#table.hasMissed(this.#print.high, this.#print.low)
    if (isMissed) slot.cells = NO_CELLS
    else this.find(key, now, slot)
    if (slot.cells === NO_CELLS) {
      this.#budget.due -= DUE_BY_KEY
      if (this.#hasRoom() || this.#makesRoom(now)) this.#add(slot)
    }
    if (slot.cells === NO_CELLS || slot.cells === this.#overflow) this.#share(slot)
    else if (slot.phase > 0 || slot.segment!.form.hasPhases) this.#keepPhase(slot)
  }

  keep(slot: MemorySlot): void {
    if (slot.cells === slot.own) this.#table.write(slot.segment!, slot.at, slot.own)
  }

  sweep(looks: number, now: number): number {
    return this.#table.sweep(looks, now, this)
  }

  drop(): void {
    this.#table.drop()
    this.#budget.bytes -= this.#overflow?.byteLength ?? 0
  }

  isOver(segment: SlotSegment, slot: number, now: number): boolean {
    if (this.#budget.isSmall) return false
    const { cells, form } = segment
    const at = segment.offset(slot)
    if (this.keeps.comparesLevels && !form.hasPhases) {
      const isPacked = form.packedBy > 0
      const rest = isPacked ? 0 : cells[at + 2]!
      const level = isPacked ? cells[at + 1]! : cells[at + 1]! * this.#period + rest
      if (rest >= 0) return this.keeps.isLevelOver(cells[at]!, level, now)
    }
    if (form.packedBy === 0) return this.keeps.isOver(cells, at, now, segment.phase(slot))
    segment.read(slot, this.#spare)
    return this.keeps.isOver(this.#spare, 0, now)
  }

  removes(): void {}

  ended(now: number): number {
    this.keeps.renew(this.lastPlan, now)
    return this.#sweepOverflow(now)
  }

  /** Points a slot at what the table has found or added. */
  #point(slot: MemorySlot): void {
    const { segment, slot: at, version } = this.#table
    slot.version = version
    slot.segment = segment
    slot.at = at
    slot.isInPlace = !segment.form.hasPhases // the key's phase may be another one now
    if (segment.form.packedBy === 0) {
      slot.cells = segment.cells
      slot.offset = segment.offset(at)
    } else {
      segment.read(at, slot.own)
      slot.cells = slot.own
      slot.offset = 0
    }
  }

  #hasRoom(): boolean {
    return !this.#budget.isFull && this.#table.hasRoom()
  }

  #makesRoom(now: number): boolean {
    this.#table.makeRoom(LOOKS_FOR_ROOM, now, this)
    return this.#hasRoom()
  }

  #add(slot: MemorySlot): void {
    this.#budget.keys++
    this.#table.add(this.#print.high, this.#print.low)
    this.#point(slot)
  }

  #keepPhase(slot: MemorySlot): void {
    const { phase } = slot
    if (!slot.segment!.form.hasPhases) {
      this.#table.keepPhases()
      this.#point(slot)
    }
    slot.segment!.setPhase(slot.at, phase)
  }

  /** Beyond the cap a new key shares a bucket: too strict for some, and no offender is forgiven to make room. */
  #share(slot: MemorySlot): void {
    if (this.#overflow === undefined) {
      this.#overflow = new Float64Array(OVERFLOW * this.#size)
      this.#budget.bytes += this.#overflow.byteLength
    }
    this.#budget.shared++
    this.#lag = Math.max(this.#lag, slot.phase)
    const at = this.#bucket()
    if (slot.cells === NO_CELLS) this.#overflow.fill(0, at, at + this.#size) // it was read as one of zeros
    slot.cells = this.#overflow
    slot.offset = at
  }

  /** The shared bucket, for as long as it counts: leaving it sooner would forgive. */
  #findShared(now: number, slot: MemorySlot): void {
    const at = this.#bucket()
    if (this.#isFree(at, now)) return
    slot.cells = this.#overflow!
    slot.offset = at
  }

  /** Of the fingerprint at hand. */
  #bucket(): number {
    return (this.#print.low & (OVERFLOW - 1)) * this.#size
  }

  #isFree(at: number, now: number): boolean {
    return this.keeps.isOver(this.#overflow!, at, now - this.#lag)
  }

  /** Drops the shared buckets once none of them counts. @returns how many were looked at */
  #sweepOverflow(now: number): number {
    if (this.#overflow === undefined) return 0
    for (let bucket = 0; bucket < OVERFLOW; bucket++) {
      if (!this.#isFree(bucket * this.#size, now)) return bucket + 1
    }
    this.#budget.bytes -= this.#overflow.byteLength
    this.#overflow = undefined
    this.#lag = 0
    return OVERFLOW
  }
}
