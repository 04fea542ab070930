import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type Budget, DUE_BY_KEY, KEPT_KEYS, Keeps, OVERFLOW, type StateTable } from './state-table.ts'

const SMALLEST = 16
/** At most so full: beyond it a table is replaced by a larger one. */
const FILL = 0.75
/** Below this it is replaced by a smaller one. */
const SPARSE = 1 / 6
/** Slots moved on each visit while a table is being replaced: it ends long before the new one can fill. */
const MOVED_PER_VISIT = 16
/** Slots looked at for a state that has expired, before a new key has to share a bucket. */
const LOOKS_FOR_ROOM = 64
/** In place of the last admission: this slot's state now lives in the new table. */
const MOVED = -1

/**
 * The states of one policy with a fixed number of integers: open addressing in one ArrayBuffer, a slot being a
 * fingerprint and the integers. No object and no timer for any key, and no pause: a table is replaced a few slots
 * at a time, and slots whose state has expired are reused and swept.
 */
export class FixedStates implements StateTable {
  cells: Cells
  lastPlan: StatePlan
  namespace = ''
  next: StateTable | undefined = undefined
  overflow: Cells | undefined = undefined
  readonly keeps: Keeps
  readonly #size: number
  readonly #budget: Budget
  readonly #print: Fingerprint
  #slots: SlotArray
  #old: SlotArray | undefined
  #cursor = 0
  #count = 0
  /** Of `#count`, those in the newer table. */
  #placed = 0
  /** The most of `#count` since the last sweep from end to end: a table that fills again would only shrink to grow. */
  #peak = 0
  /** The largest phase of a key in a shared bucket. */
  #lag = 0

  constructor(plan: StatePlan, budget: Budget, print: Fingerprint) {
    this.keeps = new Keeps(plan)
    this.lastPlan = plan
    this.#size = plan.size
    this.#budget = budget
    this.#print = print
    this.#slots = this.#slotsOf(SMALLEST, plan.size + 1)
    this.cells = this.#slots.cells
  }

  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#count === 0 && this.overflow === undefined
  }

  locate(key: string, now: number): number {
    this.cells = this.#slots.cells
    if (this.#count === 0 && this.overflow === undefined) return -1
    this.#print.of(key)
    const { high, low } = this.#print
    if (this.#old !== undefined) this.#move(MOVED_PER_VISIT, now)
    const at = probe(this.#slots, high, low)
    if (at >= 0) return at
    if (this.#old !== undefined) {
      const from = probe(this.#old, high, low)
      if (from >= 0 && this.#old.cells[from] !== MOVED) return this.#moveOne(this.#old, from, now)
    }
    return this.overflow === undefined ? -1 : this.#sharedAt(low, now)
  }

  place(key: string, now: number, phase: number): number {
    if (phase > 0 && !this.#keepsPhases(this.#slots)) this.#replace(now, this.#slots.stride + 1)
    let at = this.locate(key, now)
    if (at < 0) {
      this.#print.of(key)
      at = this.#added(this.#print.high, this.#print.low, now)
    }
    if (at < 0 || this.cells === this.overflow) return this.#share(this.#print.low, phase)
    if (this.#keepsPhases(this.#slots)) this.cells[at + this.#size] = phase
    return at
  }

  get isAtEnd(): boolean {
    return this.#cursor === 0 && this.#old === undefined
  }

  sweep(looks: number, now: number): number {
    if (this.#old !== undefined) {
      this.#move(looks, now)
      return looks
    }
    const { mask, stride, prints } = this.#slots
    let looked = 0
    for (; looked < looks && this.#cursor <= mask; looked++) {
      // What follows a state that was removed has moved into its slot: it is looked at next.
      if (!isEmpty(prints, this.#cursor * stride) && this.#isDroppable(this.#slots, this.#cursor, now))
        this.#remove(this.#cursor)
      else this.#cursor++
    }
    return this.#cursor > mask ? looked + this.#end(now) : looked
  }

  /** Begins anew. @returns how many shared buckets were looked at */
  #end(now: number): number {
    const size = this.#slots.mask + 1
    this.#cursor = 0
    this.keeps.renew(this.lastPlan, now)
    if (size > SMALLEST && this.#peak < size * SPARSE) this.#replace(now)
    this.#peak = this.#count
    return this.#sweepOverflow(now)
  }

  drop(): void {
    this.#budget.keys -= this.#count
    this.#budget.bytes -= bytesOf(this.#slots.cells) + bytesOf(this.#old?.cells) + bytesOf(this.overflow)
  }

  /** The index of a new key's state; −1 when a cap is reached. */
  #added(high: number, low: number, now: number): number {
    this.#budget.due -= DUE_BY_KEY
    const at = this.#hasRoom(now) ? this.#insert(high, low, now) : this.#reuse(high, low, now)
    if (at >= 0) return at
    this.sweep(LOOKS_FOR_ROOM, now)
    this.cells = this.#slots.cells
    return this.#hasRoom(now) ? this.#insert(high, low, now) : -1
  }

  /** Makes the table larger if need be. */
  #hasRoom(now: number): boolean {
    if (this.#budget.isFull) return false
    return (this.#count + 1) / (this.#slots.mask + 1) <= FILL || this.#replace(now)
  }

  #insert(high: number, low: number, now: number): number {
    if ((this.#placed + 1) / (this.#slots.mask + 1) > FILL) this.#grow()
    const { mask, stride, prints } = this.#slots
    let slot = low & mask
    for (; !isEmpty(prints, slot * stride); slot = (slot + 1) & mask) {
      if (this.#isDroppable(this.#slots, slot, now)) return this.#take(slot, high, low)
    }
    this.#budget.keys++
    this.#count++
    this.#placed++
    this.#peak = Math.max(this.#peak, this.#count)
    return this.#take(slot, high, low)
  }

  /** The slot of a state that has expired, where one lies on the key's way. */
  #reuse(high: number, low: number, now: number): number {
    const { mask, stride, prints } = this.#slots
    for (let slot = low & mask; !isEmpty(prints, slot * stride); slot = (slot + 1) & mask) {
      if (this.#isDroppable(this.#slots, slot, now)) return this.#take(slot, high, low)
    }
    return -1
  }

  #take(slot: number, high: number, low: number): number {
    const { stride, prints, cells } = this.#slots
    prints[2 * slot * stride] = high
    prints[2 * slot * stride + 1] = low
    cells.fill(0, slot * stride + 1, (slot + 1) * stride)
    return slot * stride + 1
  }

  /** Beyond the cap a new key shares a bucket: too strict for some, and no offender is forgiven to make room. */
  #share(low: number, phase: number): number {
    if (this.overflow === undefined) {
      this.overflow = new Float64Array(OVERFLOW * this.#size)
      this.#budget.bytes += bytesOf(this.overflow)
    }
    this.#budget.shared++
    this.#lag = Math.max(this.#lag, phase)
    this.cells = this.overflow
    return (low & (OVERFLOW - 1)) * this.#size
  }

  /** The shared bucket, for as long as it counts: leaving it sooner would forgive. */
  #sharedAt(low: number, now: number): number {
    const at = (low & (OVERFLOW - 1)) * this.#size
    if (this.#isOver(at, now)) return -1
    this.cells = this.overflow!
    return at
  }

  #isOver(at: number, now: number): boolean {
    return this.keeps.isOver(this.overflow!, at, now - this.#lag)
  }

  /** Drops the shared buckets once none of them counts. @returns how many were looked at */
  #sweepOverflow(now: number): number {
    if (this.overflow === undefined) return 0
    for (let bucket = 0; bucket < OVERFLOW; bucket++) {
      if (!this.#isOver(bucket * this.#size, now)) return bucket + 1
    }
    this.#budget.bytes -= bytesOf(this.overflow)
    this.overflow = undefined
    this.#lag = 0
    return OVERFLOW
  }

  #keepsPhases({ stride }: SlotArray): boolean {
    return stride > this.#size + 1
  }

  #isDroppable(slots: SlotArray, slot: number, now: number): boolean {
    if (this.#budget.isSmall) return false
    const at = slot * slots.stride + 1
    const phase = this.#keepsPhases(slots) ? slots.cells[at + this.#size]! : 0
    return this.keeps.isOver(slots.cells, at, now, phase)
  }

  /**
   * Begins a table of the right size.
   * @returns whether there is room for it; always, if it is smaller, or has to be wider
   */
  #replace(now: number, stride = this.#slots.stride): boolean {
    while (this.#old !== undefined) this.#move(this.#old.mask + 1, now)
    const live = Math.max(this.#count * this.#liveShare(now), Math.min(this.#count, KEPT_KEYS))
    let size = SMALLEST
    while (size * FILL < live * 1.4 + 1) size *= 2
    const isMore = size > this.#slots.mask && stride === this.#slots.stride
    if (isMore && !this.#budget.hasRoom(size * stride * Float64Array.BYTES_PER_ELEMENT)) return false
    this.#old = this.#slots
    this.#slots = this.#slotsOf(size, stride)
    this.cells = this.#slots.cells
    this.#cursor = 0
    this.#placed = 0
    return true
  }

  /** At once: the new table was made for fewer states than turn out to count. */
  #grow(): void {
    const { mask, stride, prints, cells } = this.#slots
    const larger = this.#slotsOf((mask + 1) * 2, stride)
    for (let slot = 0; slot <= mask; slot++) {
      if (isEmpty(prints, slot * stride)) continue
      let to = prints[2 * slot * stride + 1]! & larger.mask
      while (!isEmpty(larger.prints, to * stride)) to = (to + 1) & larger.mask
      larger.cells.set(cells.subarray(slot * stride, (slot + 1) * stride), to * stride)
    }
    this.#budget.bytes -= bytesOf(cells)
    this.#slots = larger
    this.cells = larger.cells
  }

  /** Estimated share of the keys whose state still counts, from an even sample. */
  #liveShare(now: number): number {
    const { mask, stride, prints } = this.#slots
    const stepping = Math.max(1, (mask + 1) >> 8)
    let seen = 0
    let live = 0
    for (let slot = 0; slot <= mask; slot += stepping) {
      if (isEmpty(prints, slot * stride)) continue
      seen++
      if (!this.#isDroppable(this.#slots, slot, now)) live++
    }
    return seen === 0 ? 1 : (live + 1) / (seen + 1)
  }

  #move(slots: number, now: number): void {
    const old = this.#old!
    const last = Math.min(this.#cursor + slots, old.mask + 1)
    for (; this.#cursor < last; this.#cursor++) {
      const word = this.#cursor * old.stride
      if (isEmpty(old.prints, word) || old.cells[word + 1] === MOVED) continue
      if (this.#isDroppable(old, this.#cursor, now)) {
        this.#forget()
        old.cells[word + 1] = MOVED // it is not counted any more: its key begins anew
      } else this.#moveOne(old, word + 1, now)
    }
    if (this.#cursor > old.mask) {
      this.#budget.bytes -= bytesOf(old.cells)
      this.#old = undefined
      this.#cursor = 0
    }
  }

  #moveOne(old: SlotArray, from: number, now: number): number {
    const word = from - 1
    this.#forget()
    const at = this.#insert(old.prints[2 * word]!, old.prints[2 * word + 1]!, now)
    this.#slots.cells.set(old.cells.subarray(from, word + old.stride), at)
    old.cells[from] = MOVED
    return at
  }

  #forget(): void {
    this.#count--
    this.#budget.keys--
  }

  /** Takes a slot out and closes the gap, so that no probe ends early. */
  #remove(slot: number): void {
    const { mask, stride, prints, cells } = this.#slots
    this.#forget()
    this.#placed--
    let gap = slot
    for (let next = (gap + 1) & mask; !isEmpty(prints, next * stride); next = (next + 1) & mask) {
      const home = prints[2 * next * stride + 1]! & mask
      if (((next - home) & mask) < ((next - gap) & mask)) continue
      cells.copyWithin(gap * stride, next * stride, (next + 1) * stride)
      gap = next
    }
    prints[2 * gap * stride] = 0
    prints[2 * gap * stride + 1] = 0
  }

  #slotsOf(size: number, stride: number): SlotArray {
    const cells = new Float64Array(size * stride)
    this.#budget.bytes += bytesOf(cells)
    return { mask: size - 1, stride, cells, prints: new Int32Array(cells.buffer) }
  }
}

interface SlotArray {
  readonly mask: number
  /** Numbers in one slot: the fingerprint, the integers, and the key's phase where windows are spread. */
  readonly stride: number
  readonly cells: Cells
  /** The same memory as `cells`: a slot's first 8 bytes are its fingerprint. */
  readonly prints: Int32Array
}

function bytesOf(cells: Cells | undefined): number {
  return cells?.byteLength ?? 0
}

function isEmpty(prints: Int32Array, word: number): boolean {
  return prints[2 * word] === 0 && prints[2 * word + 1] === 0
}

/** Where the fingerprint's integers begin, or −1. */
function probe({ mask, stride, prints }: SlotArray, high: number, low: number): number {
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const word = slot * stride
    if (prints[2 * word + 1] === low && prints[2 * word] === high) return word + 1
    if (isEmpty(prints, word)) return -1
  }
}
