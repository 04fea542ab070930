import type { Cells } from '../../core/decide/algorithm.ts'
import { type Form, newForm, SlotSegment, strideOf } from './segment.ts'
import type { Budget } from './state-table.ts'

const SMALLEST = 16
/** Slots of a segment, once there are several: 200 to 600 kB. */
const SEGMENT = 8_192
/** At most so full: beyond it a table grows, */
const FILL = 0.81
/** by this share of its segments: so it is never less than two thirds full, except where it is small. */
const GROWTH = 1 / 5
/** or by less where bytes are short. By less than this it would be full before all has been moved. */
const LEAST_GROWTH = 1 / 8
/** Below this it shrinks, to no less than half. */
const SPARSE = 0.3
/** While it is resized: new keys from one move to the next, and slots that are moved. What is moved last is 0.89 full. */
const KEYS_A_MOVE = 8
const SLOTS_A_MOVE = 96
/** A segment fuller than this is doubled by itself. By chance none is: 8,192 fingerprints spread to 1 %. */
const FULLEST = 15 / 16

/**
 * Any number of segments, where a fingerprint's upper half says which: each has an equal part of them, in order. To grow
 * or shrink, one segment after the other gives what now belongs to another one, the last first or the first first, a
 * few slots at a time; so at each instant a key can be in one place only, and no decision does much of it. No
 * allocation is larger than a segment. A single segment is replaced by a larger or smaller one at once.
 */
export class Segments {
  readonly all: (SlotSegment | undefined)[]
  /** Another number whenever a state may be elsewhere, or was written in another form than its algorithm's. */
  version = 0
  readonly #budget: Budget
  readonly #packedBy: number
  /** Of a segment, once there are several. */
  readonly #slots: number
  #form: Form
  #size = 1
  /** How many segments it shall have; `#size` while that is so. */
  #target = 1
  /** The segment that gives away now what it has to, while it is resized. */
  #index = 0
  /** Of its slots, so many from `#start` on have given away what they had to. Both ends are empty slots. */
  #moved = 0
  #start = 0
  #added = 0
  /** Bytes of segments that are not made yet. */
  #reserved = 0
  readonly #spare: Cells

  /**
   * @param packedBy how a state is packed once there are many: see {@link Form}
   * @param slots of a segment, a power of two: fewer for a test
   */
  constructor(size: number, packedBy: number, budget: Budget, slots: number = SEGMENT) {
    this.#budget = budget
    this.#packedBy = packedBy
    this.#slots = slots
    this.#form = newForm(size, 0, false)
    this.#spare = new Float64Array(size)
    this.all = [this.#newSegment(SMALLEST)]
    budget.bytes += this.all[0]!.bytes
  }

  get isResizing(): boolean {
    return this.#target !== this.#size
  }

  /** Whether it is resized, but not by new keys: `move` must be called meanwhile. */
  isSlow(count: number): boolean {
    return this.isResizing && (this.#target < this.#size || count < this.#size * this.#slots * SPARSE)
  }

  /** The one where a fingerprint is, or would be. */
  of(high: number, low: number): SlotSegment {
    return this.all[this.#indexOf(high, low)]!
  }

  #indexOf(high: number, low: number): number {
    const part = (high >>> 0) * 2 ** -32 // a power of two: products with it are as exact as those of integers
    const index = (part * this.#size) | 0
    return this.#target === this.#size || !this.#isMoved(index, low) ? index : (part * this.#target) | 0
  }

  #isMoved(index: number, low: number): boolean {
    if (index !== this.#index) return this.#target > this.#size === index > this.#index
    const { mask } = this.all[index]!
    return (((low & mask) - this.#start) & mask) < this.#moved
  }

  /** Whether there is room for so many states; it grows for them, if it may. */
  hasRoom(count: number): boolean {
    const slots = this.#target === 1 ? this.all[0]!.mask + 1 : this.#target * this.#slots
    return count <= slots * FILL || this.#grow()
  }

  /** To be called for each new fingerprint, after `hasRoom`: its segment has room then. */
  prepare(high: number, low: number): void {
    if (this.isResizing && ++this.#added % KEYS_A_MOVE === 0) this.move(SLOTS_A_MOVE)
    let index = this.#indexOf(high, low)
    while (isFull(this.all[index]!)) {
      if (this.isResizing && index === this.#index) this.#moveSegment()
      else this.#enlarge(index)
      index = this.#indexOf(high, low)
    }
  }

  /**
   * While it is resized, looks at so many slots of the segment that gives away, and more up to an empty one, or up to its end.
   * @returns how many
   */
  move(slots: number): number {
    const index = this.#index
    if (this.#moved === 0) this.#begin(index)
    const segment = this.all[index]!
    const { mask, stride, prints } = segment
    const share = this.#target * 2 ** -32
    // From an empty slot to an empty one, so that a state that stays moves to a slot that was looked at, no probe ends
    // early, and what is looked at are all states that would be there. The last ones may stand behind the end.
    let moved = this.#moved
    let slot = (this.#start + moved) & mask
    const end = Math.min(moved + slots, mask + 1)
    for (; moved < end || !segment.isEmpty(slot); moved++) {
      const high = prints[2 * slot * stride]!
      if (high !== 0 || !segment.isEmpty(slot)) {
        const to = ((high >>> 0) * share) | 0
        if (to === index) segment.settle(slot)
        else {
          this.#put(to, segment, slot)
          segment.clear(slot)
        }
      }
      slot = (slot + 1) & mask
    }
    const looked = moved - this.#moved
    this.#moved = moved
    this.version++
    if (moved <= mask) return looked
    this.#moved = 0
    const grows = this.#target > this.#size
    this.#index += grows ? -1 : 1
    if (this.#index === (grows ? -1 : this.#size)) this.#finish()
    return looked
  }

  /** Writes the states of a fingerprint's segment in their algorithm's own form, and with phases, as those to come. */
  unpack(high: number, low: number, withPhases: boolean): void {
    const index = this.#indexOf(high, low)
    const { form, mask } = this.all[index]!
    const own = newForm(form.size, 0, withPhases || form.hasPhases)
    if (withPhases) this.#form = own
    this.#rebuild(index, mask + 1, own)
  }

  /** Makes it smaller, if it is empty, or much too large for so many states. */
  shrink(isEmpty: boolean, most: number): void {
    const slots = this.all[0]!.mask + 1
    if (isEmpty && (this.#size > 1 || slots > SMALLEST)) this.#clear()
    else if (this.#size > 1 && most < this.#size * this.#slots * SPARSE) {
      this.#target = (this.#size + 1) >>> 1
      this.#index = 0
    } else if (this.#size === 1 && most < slots * (SPARSE / 2)) {
      let fewer = SMALLEST
      while (fewer * FILL < most * 1.4 + 1) fewer *= 2
      this.#rebuild(0, fewer, this.all[0]!.form)
    }
  }

  /** Gives its memory back to the budget. */
  drop(): void {
    this.#budget.bytes -= this.#reserved
    for (const segment of this.all) this.#budget.bytes -= segment?.bytes ?? 0
  }

  #newSegment(slots: number): SlotSegment {
    return new SlotSegment(slots, this.#form)
  }

  #grow(): boolean {
    while (this.isResizing) this.#moveSegment() // it has its size long before it is full
    const budget = this.#budget
    const only = this.all[0]!
    const slots = 2 * (only.mask + 1)
    if (this.#size === 1 && slots >= this.#slots && !this.#form.hasPhases)
      this.#form = newForm(this.#form.size, this.#packedBy, false)
    if (this.#size === 1 && slots <= this.#slots) {
      if (!budget.hasRoom(only.bytes)) return false
      this.#rebuild(0, slots, slots === this.#slots ? this.#form : only.form)
      return true
    }
    if (!budget.hasRoom(this.#bytesOf(Math.ceil(this.#size * LEAST_GROWTH)))) return false
    const fitting = Math.floor((budget.maxBytes - budget.bytes) / this.#bytesOf(1))
    const more = Math.min(fitting, Math.max(1, Math.round(this.#size * GROWTH)))
    this.#reserved = this.#bytesOf(more)
    budget.bytes += this.#reserved
    this.#index = this.#size - 1
    this.#target = this.#size + more
    while (this.all.length < this.#target) this.all.push(undefined)
    return true
  }

  #bytesOf(segments: number): number {
    return segments * this.#slots * strideOf(this.#form) * Float64Array.BYTES_PER_ELEMENT
  }

  /** It becomes as small as a new one. */
  #clear(): void {
    for (const segment of this.all) this.#budget.bytes -= segment!.bytes
    this.#size = 1
    this.#target = 1
    this.#form = unpackedOf(this.#form)
    this.all.length = 0
    this.all.push(this.#newSegment(SMALLEST))
    this.#budget.bytes += this.all[0]!.bytes
    this.version++
  }

  #moveSegment(): void {
    const index = this.#index
    while (this.isResizing && this.#index === index) this.move(this.#slots)
  }

  /** Makes the segments to which the states of another one go, as far as there are none. */
  #begin(index: number): void {
    const source = this.all[index]!
    this.#start = source.freeSlot(0)
    if (this.#target < this.#size) return
    const first = Math.floor((index * this.#target) / this.#size)
    const last = Math.min(this.#target - 1, Math.floor(((index + 1) * this.#target) / this.#size))
    for (let i = first; i <= last; i++) {
      if (this.all[i] !== undefined) continue
      const segment = this.#newSegment(this.#slots)
      const reserved = Math.min(this.#reserved, segment.bytes)
      this.#reserved -= reserved
      this.#budget.bytes += segment.bytes - reserved
      this.all[i] = segment
    }
  }

  #finish(): void {
    const before = this.#size
    this.#size = this.#target
    this.#budget.bytes -= this.#reserved
    this.#reserved = 0
    for (let i = this.#size; i < before; i++) this.#budget.bytes -= this.all[i]!.bytes
    this.all.length = this.#size
  }

  /** Copies a state to its segment, which is another one. */
  #put(index: number, from: SlotSegment, slot: number): void {
    let to = this.all[index]!
    if (isFull(to)) to = this.#enlarge(index)
    if (this.#copy(from, slot, to)) return
    const isWide = from.form.hasPhases && !to.form.hasPhases
    to = this.#rebuild(index, to.mask + 1, isWide ? from.form : unpackedOf(to.form))
    this.#copy(from, slot, to)
  }

  /** @returns whether the state can be written in the other segment's form; else nothing is */
  #copy(from: SlotSegment, slot: number, to: SlotSegment): boolean {
    const low = from.low(slot)
    if (isSame(from.form, to.form)) {
      to.copy(from, slot, to.freeSlot(low))
      return true
    }
    from.read(slot, this.#spare)
    if ((from.form.hasPhases && !to.form.hasPhases) || !to.fits(this.#spare)) return false
    const at = to.freeSlot(low)
    to.take(at, from.high(slot), low)
    to.write(at, this.#spare)
    to.setPhase(at, from.phase(slot))
    return true
  }

  #enlarge(index: number): SlotSegment {
    const { mask, form } = this.all[index]!
    return this.#rebuild(index, 2 * (mask + 1), form)
  }

  /** Puts one with so many slots in a segment's place, of another form if all of its states can be written so. */
  #rebuild(index: number, slots: number, form: Form): SlotSegment {
    const before = this.all[index]!
    const segment = new SlotSegment(slots, form)
    for (let slot = 0; slot <= before.mask; slot++) {
      if (before.isEmpty(slot) || this.#copy(before, slot, segment)) continue
      return before.mask + 1 === slots ? before : this.#rebuild(index, slots, before.form)
    }
    this.#budget.bytes += segment.bytes - before.bytes
    this.all[index] = segment
    this.version++
    return segment
  }
}

function isFull({ count, mask }: SlotSegment): boolean {
  return count + 1 > (mask + 1) * FULLEST
}

function unpackedOf({ size, hasPhases }: Form): Form {
  return newForm(size, 0, hasPhases)
}

function isSame(a: Form, b: Form): boolean {
  return a === b || (a.packedBy === b.packedBy && a.hasPhases === b.hasPhases)
}
