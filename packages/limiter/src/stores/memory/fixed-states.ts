import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import { droppableAt } from '../../core/decide/figures.ts'
import type { Fingerprint } from './fingerprint.ts'
import { DROPS_ABOVE, type KeyBudget, OVERFLOW, type StateTable } from './state-table.ts'

const SMALLEST = 16
const FILL = 0.75
/** Slots moved on each visit while a table is being replaced: it ends long before the new one can fill. */
const MOVED_PER_VISIT = 16
/** In place of the last admission: this slot's state now lives in the new table. */
const MOVED = -1

/**
 * The states of one policy with a fixed number of integers: open addressing in one ArrayBuffer, a slot being a
 * fingerprint and the integers. No object and no timer for any key, and no pause: a table is replaced a few slots
 * at a time, and slots whose state has expired are reused and swept.
 */
export class FixedStates implements StateTable {
  cells: Cells
  keeps: StatePlan
  lastPlan: StatePlan
  next: StateTable | undefined = undefined
  lag = 0
  readonly plans: WeakSet<StatePlan>
  readonly #size: number
  readonly #stride: number
  readonly #budget: KeyBudget
  readonly #print: Fingerprint
  #slots: SlotArray
  #old: SlotArray | undefined
  #cursor = 0
  #overflow: Cells | undefined
  #count = 0
  /** Of `#count`, those in the newer table. */
  #placed = 0

  constructor(plan: StatePlan, budget: KeyBudget, print: Fingerprint) {
    this.keeps = plan
    this.lastPlan = plan
    this.plans = new WeakSet([plan])
    this.#size = plan.size
    this.#stride = plan.size + 1
    this.#budget = budget
    this.#print = print
    this.#slots = slotsOf(SMALLEST, this.#stride)
    this.cells = this.#slots.cells
  }

  get count(): number {
    return this.#count
  }

  locate(key: string, now: number): number {
    this.cells = this.#slots.cells
    if (this.#count === 0 && this.#overflow === undefined) return -1
    this.#print.of(key)
    const { high, low } = this.#print
    if (this.#old !== undefined) this.#move(MOVED_PER_VISIT, now)
    const at = probe(this.#slots, this.#stride, high, low)
    if (at >= 0) return at
    if (this.#old !== undefined) {
      const from = probe(this.#old, this.#stride, high, low)
      if (from >= 0 && this.#old.cells[from] !== MOVED) return this.#moveOne(this.#old, from, now)
    }
    return this.#overflow === undefined ? -1 : this.#sharedAt(low, now)
  }

  place(key: string, now: number): number {
    const at = this.locate(key, now)
    if (at >= 0) return at
    this.#print.of(key)
    if ((this.#count + 1) / (this.#slots.mask + 1) > FILL) this.#replace(now)
    return this.#insert(this.#print.high, this.#print.low, now) ?? this.#share(this.#print.low)
  }

  sweep(slots: number, now: number): void {
    if (this.#old !== undefined) {
      this.#move(slots, now)
      return
    }
    const { mask, prints } = this.#slots
    for (let i = 0; i < slots; i++) {
      const slot = this.#cursor++ & mask
      if (isEmpty(prints, slot * this.#stride)) continue
      if (!this.#droppable(this.#slots.cells, slot, now)) continue
      this.#remove(slot)
    }
    if (mask + 1 > SMALLEST && this.#count < (mask + 1) / 8) this.#replace(now)
  }

  /** The slot of a new key; `undefined` when the cap is reached. */
  #insert(high: number, low: number, now: number): number | undefined {
    if ((this.#placed + 1) / (this.#slots.mask + 1) > FILL) this.#grow()
    const { mask, prints, cells } = this.#slots
    const stride = this.#stride
    let reusable = -1
    let slot = low & mask
    for (; !isEmpty(prints, slot * stride); slot = (slot + 1) & mask) {
      if (reusable < 0 && this.#droppable(cells, slot, now)) reusable = slot
    }
    if (reusable < 0) {
      if (this.#budget.keys >= this.#budget.max) return undefined
      this.#budget.keys++
      this.#count++
      this.#placed++
    } else slot = reusable
    prints[2 * slot * stride] = high
    prints[2 * slot * stride + 1] = low
    const at = slot * stride + 1
    cells.fill(0, at, at + this.#size)
    return at
  }

  /** Beyond the cap a new key shares a bucket: too strict for some, and no offender is forgiven to make room. */
  #share(low: number): number {
    this.#overflow ??= new Float64Array(OVERFLOW * this.#size)
    this.#budget.shared++
    this.cells = this.#overflow
    return (low & (OVERFLOW - 1)) * this.#size
  }

  /** The shared bucket, for as long as it counts: leaving it sooner would forgive. */
  #sharedAt(low: number, now: number): number {
    const at = (low & (OVERFLOW - 1)) * this.#size
    if (droppableAt(this.keeps, this.#overflow!, at) <= now - this.lag) return -1
    this.cells = this.#overflow!
    return at
  }

  #droppable(cells: Cells, slot: number, now: number): boolean {
    if (this.#budget.keys < Math.min(DROPS_ABOVE, this.#budget.max)) return false
    return droppableAt(this.keeps, cells, slot * this.#stride + 1) <= now - this.lag
  }

  #replace(now: number): void {
    while (this.#old !== undefined) this.#move(this.#old.mask + 1, now)
    const live = this.#count * this.#liveShare(now)
    let size = SMALLEST
    while (size * FILL < live * 1.4 + 1) size *= 2
    this.#old = this.#slots
    this.#slots = slotsOf(size, this.#stride)
    this.cells = this.#slots.cells
    this.#cursor = 0
    this.#placed = 0
  }

  /** At once: the new table was made for fewer states than turn out to count. */
  #grow(): void {
    const { mask, prints, cells } = this.#slots
    const stride = this.#stride
    const larger = slotsOf((mask + 1) * 2, stride)
    for (let slot = 0; slot <= mask; slot++) {
      if (isEmpty(prints, slot * stride)) continue
      let to = prints[2 * slot * stride + 1]! & larger.mask
      while (!isEmpty(larger.prints, to * stride)) to = (to + 1) & larger.mask
      larger.cells.set(cells.subarray(slot * stride, (slot + 1) * stride), to * stride)
    }
    this.#slots = larger
    this.cells = larger.cells
  }

  /** Estimated share of the keys whose state still counts, from an even sample. */
  #liveShare(now: number): number {
    const { mask, prints, cells } = this.#slots
    const stepping = Math.max(1, (mask + 1) >> 8)
    let seen = 0
    let live = 0
    for (let slot = 0; slot <= mask; slot += stepping) {
      if (isEmpty(prints, slot * this.#stride)) continue
      seen++
      if (!this.#droppable(cells, slot, now)) live++
    }
    return seen === 0 ? 1 : (live + 1) / (seen + 1)
  }

  #move(slots: number, now: number): void {
    const old = this.#old!
    const last = Math.min(this.#cursor + slots, old.mask + 1)
    for (; this.#cursor < last; this.#cursor++) {
      const word = this.#cursor * this.#stride
      if (isEmpty(old.prints, word) || old.cells[word + 1] === MOVED) continue
      if (this.#droppable(old.cells, this.#cursor, now)) this.#forget()
      else this.#moveOne(old, word + 1, now)
    }
    if (this.#cursor > old.mask) {
      this.#old = undefined
      this.#cursor = 0
    }
  }

  #moveOne(old: SlotArray, from: number, now: number): number {
    const word = from - 1
    this.#forget()
    const at = this.#insert(old.prints[2 * word]!, old.prints[2 * word + 1]!, now)!
    this.#slots.cells.set(old.cells.subarray(from, from + this.#size), at)
    old.cells[from] = MOVED
    return at
  }

  #forget(): void {
    this.#count--
    this.#budget.keys--
  }

  /** Takes a slot out and closes the gap, so that no probe ends early. */
  #remove(slot: number): void {
    const { mask, prints, cells } = this.#slots
    const stride = this.#stride
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
}

interface SlotArray {
  readonly mask: number
  readonly cells: Cells
  /** The same memory as `cells`: a slot's first 8 bytes are its fingerprint. */
  readonly prints: Int32Array
}

function slotsOf(size: number, stride: number): SlotArray {
  const cells = new Float64Array(size * stride)
  return { mask: size - 1, cells, prints: new Int32Array(cells.buffer) }
}

function isEmpty(prints: Int32Array, word: number): boolean {
  return prints[2 * word] === 0 && prints[2 * word + 1] === 0
}

/** Where the fingerprint's integers begin, or −1. */
function probe(slots: SlotArray, stride: number, high: number, low: number): number {
  const { mask, prints } = slots
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const word = slot * stride
    if (prints[2 * word + 1] === low && prints[2 * word] === high) return word + 1
    if (isEmpty(prints, word)) return -1
  }
}
