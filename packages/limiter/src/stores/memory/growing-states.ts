import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import { inUnits } from '../../core/decide/figures.ts'
import { NO_CELLS, withRoom } from '../../core/decide/run.ts'
import type { Fingerprint } from './fingerprint.ts'
import { INLINE_SIZE, inlineLength, readInline, writeInline } from './inline-run.ts'
import { RunPool } from './run-pool.ts'
import type { SlotSegment } from './segment.ts'
import { type SlotOwner, SlotTable } from './slot-table.ts'
import { type Budget, DUE_BY_KEY, Keeps, type MemorySlot, OVERFLOW, type StateTable } from './state-table.ts'

const EMPTY = new Float64Array(0)
/** Lengths of runs that are kept together in pools. The next longer one is taken; a longer run is an array of its own. */
const LENGTHS = [6, 8, 12, 16, 20, 24, 32, 48, 64]
const LONGEST = LENGTHS.at(-1)!
/** What an array takes beside its numbers. */
const BYTES_PER_ARRAY = 200
/** In place of a code: the run is in the pool of the length with that index, or an array of its own. */
const POOLED = -1
const ALONE = -100
/** States looked at for one that has expired, before a new key has to share a bucket. */
const LOOKS_FOR_ROOM = 64

/**
 * The states of one policy that keeps an entry for each admission or lease: a run for every key, of its own length. A
 * slot holds a short run itself, or says where in a pool it is: so there is no object for a key, but for a long run. A
 * run is copied out for a request, and back if it was changed.
 */
export class GrowingStates implements StateTable, SlotOwner {
  lastPlan: StatePlan
  namespace = ''
  next: StateTable | undefined = undefined
  readonly keeps: Keeps
  readonly #budget: Budget
  readonly #print: Fingerprint
  readonly #table: SlotTable
  readonly #pools: RunPool[]
  readonly #alone = new Map<number, Cells>()
  #lastAlone = 0
  readonly #shared = new Map<number, Cells>()
  /** A copy of each length, for what is looked at by the way. */
  readonly #spare: Cells[] = []

  constructor(plan: StatePlan, budget: Budget, print: Fingerprint) {
    this.keeps = new Keeps(plan)
    this.lastPlan = plan
    this.#budget = budget
    this.#print = print
    this.#table = new SlotTable(INLINE_SIZE, 0, budget)
    this.#pools = LENGTHS.map((length) => new RunPool(length, budget))
  }

  get version(): number {
    return this.#table.version
  }

  get isEmpty(): boolean {
    return this.#table.count === 0 && this.#shared.size === 0
  }

  get isAtEnd(): boolean {
    return this.#table.isAtEnd
  }

  find(key: string, now: number, slot: MemorySlot): void {
    const print = this.#print
    print.of(key)
    slot.table = this
    slot.offset = 0
    slot.isInPlace = false
    slot.segment = undefined
    if (this.#table.find(print.high, print.low)) this.#point(slot)
    else slot.cells = this.#sharedRun(now) ?? NO_CELLS
  }

  place(key: string, now: number, slot: MemorySlot): void {
    this.find(key, now, slot)
    if (slot.segment !== undefined) this.#makeLonger(slot, slot.cells, now)
    else if (slot.cells === NO_CELLS && this.#hasRoom(now)) {
      this.#budget.keys++
      this.#table.add(this.#print.high, this.#print.low)
      this.#point(slot)
      this.#makeLonger(slot, EMPTY, now)
    } else this.#placeShared(now, slot)
  }

  keep({ segment, at, cells }: MemorySlot): void {
    if (segment === undefined) return // a shared run is no copy
    const offset = segment.offset(at)
    const pool = this.#poolOf(segment.cells[offset + 1]!)
    if (pool !== undefined && pool.length === cells.length) {
      pool.write(segment.cells[offset]!, cells)
      return
    }
    if (this.#alone.get(segment.cells[offset]!) === cells && segment.cells[offset + 1] === ALONE) return
    this.removes(segment, at)
    if (!writeInline(cells, segment.cells, offset)) this.#store(segment, at, cells)
  }

  sweep(looks: number, now: number): number {
    return this.#table.sweep(looks, now, this)
  }

  drop(): void {
    this.#table.drop()
    for (const pool of this.#pools) pool.drop()
    for (const run of this.#alone.values()) this.#budget.bytes -= bytesOf(run)
    for (const run of this.#shared.values()) this.#budget.bytes -= bytesOf(run)
  }

  isOver(segment: SlotSegment, slot: number, now: number): boolean {
    return !this.#budget.isSmall && this.keeps.isOver(this.#runAt(segment, slot, this.#spare), 0, now)
  }

  /** Frees the run of a slot, where it is not in the slot itself. */
  removes(segment: SlotSegment, slot: number): void {
    const offset = segment.offset(slot)
    const number = segment.cells[offset]!
    const code = segment.cells[offset + 1]!
    if (code === ALONE) {
      this.#budget.bytes -= bytesOf(this.#alone.get(number)!)
      this.#alone.delete(number)
    }
    const moved = this.#poolOf(code)?.remove(number)
    if (moved === undefined) return
    this.#table.find(moved[0], moved[1])
    const { segment: other, slot: at } = this.#table
    other.cells[other.offset(at)] = number
  }

  ended(now: number): number {
    this.keeps.renew(this.lastPlan, now)
    let looked = 0
    for (const [bucket, run] of this.#shared) {
      looked++
      if (!this.keeps.isOver(run, 0, now)) break
      this.#shared.delete(bucket)
      this.#budget.bytes -= bytesOf(run)
    }
    return looked
  }

  #hasRoom(now: number): boolean {
    this.#budget.due -= DUE_BY_KEY
    if (!this.#budget.isFull && this.#table.hasRoom()) return true
    this.#table.makeRoom(LOOKS_FOR_ROOM, now, this)
    return !this.#budget.isFull && this.#table.hasRoom()
  }

  /** Points a slot at a copy of what the table has found or added. */
  #point(slot: MemorySlot): void {
    const { segment, slot: at, version } = this.#table
    slot.version = version
    slot.segment = segment
    slot.at = at
    slot.cells = this.#runAt(segment, at, slot.copies)
  }

  /** The run of a slot: a copy, or the array itself where it has one. */
  #runAt({ cells, stride }: SlotSegment, slot: number, copies: Cells[]): Cells {
    const offset = slot * stride + 1
    const code = cells[offset + 1]!
    if (code === ALONE) return this.#alone.get(cells[offset]!)!
    const pool = this.#poolOf(code)
    const copy = copyOf(copies, pool === undefined ? inlineLength(code) : pool.length)
    if (pool === undefined) readInline(cells, offset, copy)
    else pool.read(cells[offset]!, copy)
    return copy
  }

  #poolOf(code: number): RunPool | undefined {
    return code < 0 && code !== ALONE ? this.#pools[POOLED - code] : undefined
  }

  /**
   * Makes room in a run for one more charge. Where there are no bytes for it, it stays as it is, and the algorithm
   * keeps its entries less exactly.
   */
  #makeLonger(slot: MemorySlot, run: Cells, now: number): void {
    const { plan } = this.keeps
    const room = plan.algorithm.room!(plan, run, inUnits(plan, now))
    slot.cells = run
    if (room === run.length) return
    const index = LENGTHS.findIndex((length) => length >= room)
    const length = index < 0 ? room : LENGTHS[index]!
    if (length === run.length) return
    const isFirst = run === EMPTY
    if (length > run.length && !isFirst) {
      const bytes = index < 0 ? 8 * (length - run.length) + BYTES_PER_ARRAY : this.#pools[index]!.bytesToAdd
      if (bytes > 0 && !this.#budget.hasRoom(bytes)) return
    }
    slot.cells = index < 0 ? new Float64Array(length) : copyOf(slot.copies, length)
    for (let i = 0; i < length; i++) slot.cells[i] = i < run.length ? run[i]! : 0
  }

  /** Where a run is kept that does not fit its slot. */
  #store(segment: SlotSegment, slot: number, run: Cells): void {
    const offset = segment.offset(slot)
    if (run.length > LONGEST) {
      this.#alone.set(++this.#lastAlone, run)
      this.#budget.bytes += bytesOf(run)
      segment.cells[offset] = this.#lastAlone
      segment.cells[offset + 1] = ALONE
      return
    }
    const index = LENGTHS.indexOf(run.length)
    const number = this.#pools[index]!.add(segment.high(slot), segment.low(slot))
    this.#pools[index]!.write(number, run)
    segment.cells[offset] = number
    segment.cells[offset + 1] = POOLED - index
  }

  /** As in FixedStates: beyond a cap keys share buckets, and stay there while the bucket counts. */
  #placeShared(now: number, slot: MemorySlot): void {
    const bucket = this.#bucket()
    const known = this.#shared.get(bucket)
    const run = withRoom(this.keeps.plan, known ?? EMPTY, now)
    const bytes = bytesOf(run) - (known === undefined ? 0 : bytesOf(known))
    const isRefused = known !== undefined && bytes > 0 && !this.#budget.hasRoom(bytes)
    slot.cells = isRefused ? known : run
    this.#budget.shared++
    if (isRefused) return
    this.#shared.set(bucket, run)
    this.#budget.bytes += bytes
  }

  #sharedRun(now: number): Cells | undefined {
    if (this.#shared.size === 0) return undefined
    const run = this.#shared.get(this.#bucket())
    return run !== undefined && !this.keeps.isOver(run, 0, now) ? run : undefined
  }

  /** Of the fingerprint at hand. */
  #bucket(): number {
    return this.#print.low & (OVERFLOW - 1)
  }
}

/** One array of each length, to be written over. */
function copyOf(copies: Cells[], length: number): Cells {
  for (let i = 0; i < copies.length; i++) if (copies[i]!.length === length) return copies[i]!
  const copy = new Float64Array(length)
  copies.push(copy)
  return copy
}

function bytesOf(run: Cells): number {
  return BYTES_PER_ARRAY + run.byteLength
}
