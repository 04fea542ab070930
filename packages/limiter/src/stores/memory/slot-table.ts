import type { Cells } from '../../core/decide/algorithm.ts'
import { type Form, SlotSegment, strideOf } from './segment.ts'
import type { Budget } from './state-table.ts'

const SMALLEST = 16
/** Slots of a segment, once there are several: 200 to 600 kB. */
const SEGMENT = 8_192
/** At most so full: beyond it a table grows, */
const FILL = 0.82
/** by this share of its segments: so it is never less than two thirds full, except where it is small. */
const GROWTH = 1 / 5
/** Below this it shrinks, to no less than half. */
const SPARSE = 0.3
/** Of a segment's slots, so many new keys from one segment moved to the next: a table has its new size long before it is full. */
const KEYS_A_MOVE = 1 / 16
/** Of a segment's slots, what a move counts for in a sweep. */
const LOOKS_A_MOVE = 1 / 4
/** A segment fuller than this is doubled by itself. By chance none is: 8,192 fingerprints spread to 1 %. */
const FULLEST = 15 / 16

const bytesOf = (slots: number, form: Form): number => slots * strideOf(form) * Float64Array.BYTES_PER_ELEMENT

/**
 * A hash table of any number of segments, where a fingerprint's upper half says which: each has an equal part of them, in
 * order. To grow or shrink, one segment after the other gives what now belongs to another one, the last first or the
 * first first; so at each instant a key can be in one place only. No allocation is larger than a segment, and nothing
 * is copied to a second table. While it has one segment only, that is replaced by a larger or smaller one at once.
 */
export class SlotTable {
  count = 0
  /** Another number whenever a state may be elsewhere, or was written in another form than its algorithm's. */
  version = 0
  /** Where `find` found a state, or where there is room for it. */
  segment: SlotSegment
  slot = 0
  readonly #budget: Budget
  readonly #packedBy: number
  /** Of a segment, once there are several. */
  readonly #slots: number
  readonly #keysAMove: number
  #form: Form
  readonly #segments: (SlotSegment | undefined)[]
  #size = 1
  /** How many segments it shall have; `#size` while that is so. */
  #target = 1
  /** While it grows, segments from here on have given away what they had to; while it shrinks, those below. */
  #frontier = 0
  #added = 0
  /** Bytes of segments that are not made yet. */
  #reserved = 0
  /** The most of `count` since the last sweep from end to end: a table that fills again would only shrink to grow. */
  #peak = 0
  /** Whether `segment` and `slot` are where the fingerprint below may be added. */
  #isMissed = false
  #high = 0
  #low = 0
  /** The place to be swept next. */
  #sweptSegment = 0
  #sweptSlot = 0
  readonly #spare: Cells

  /**
   * @param packedBy how a state is packed once there are many: see {@link Form}
   * @param slots of a segment, a power of two: fewer for a test
   */
  constructor(size: number, packedBy: number, budget: Budget, slots: number = SEGMENT) {
    this.#slots = slots
    this.#keysAMove = Math.max(1, slots * KEYS_A_MOVE)
    this.#budget = budget
    this.#packedBy = packedBy
    this.#form = { size, packedBy: 0, hasPhases: false }
    this.#spare = new Float64Array(size)
    this.segment = this.#newSegment(SMALLEST)
    this.#segments = [this.segment]
    budget.bytes += this.segment.bytes
  }

  get isResizing(): boolean {
    return this.#target !== this.#size
  }

  get isAtEnd(): boolean {
    return this.#sweptSegment === 0 && this.#sweptSlot === 0 && !this.isResizing
  }

  find(high: number, low: number): boolean {
    const segment = this.#segments[this.#indexOf(high)]!
    const { mask, stride, prints } = segment
    let slot = low & mask
    let word = 2 * slot * stride
    let isFound = false
    for (;;) {
      const own = prints[word + 1]
      if (own === low && prints[word] === high) {
        isFound = true
        break
      }
      if (own === 0 && prints[word] === 0) break
      slot = (slot + 1) & mask
      word = 2 * slot * stride
    }
    this.segment = segment
    this.slot = slot
    this.#isMissed = !isFound
    this.#high = high
    this.#low = low
    return isFound
  }

  /** Whether the last `find` was for this fingerprint, in vain, and it need not be looked for again. */
  hasMissed(high: number, low: number): boolean {
    return this.#isMissed && this.#high === high && this.#low === low
  }

  /** Whether one more state fits; the table grows for it, if it may. */
  hasRoom(): boolean {
    const slots = this.#target === 1 ? this.#segments[0]!.mask + 1 : this.#target * this.#slots
    return this.count + 1 <= slots * FILL || this.#grow()
  }

  /** Adds a fingerprint that is not in it, with zeros for integers, after `hasRoom`. It is at `segment`, `slot` then. */
  add(high: number, low: number): void {
    if (this.isResizing && ++this.#added % this.#keysAMove === 0) this.#moveOne()
    if (!this.hasMissed(high, low)) this.find(high, low)
    if (isFull(this.segment)) {
      this.#enlarge(this.#indexOf(high))
      this.find(high, low)
    }
    this.segment.take(this.slot, high, low)
    this.#isMissed = false
    this.count++
    if (this.count > this.#peak) this.#peak = this.count
  }

  /** Writes the integers of a state in its segment's form. */
  write(segment: SlotSegment, slot: number, cells: Cells): void {
    const fitting = segment.fits(cells)
      ? segment
      : this.#reform(this.#indexOf(segment.high(slot)), { ...segment.form, packedBy: 0 })
    fitting.write(slot, cells)
    this.version++
  }

  /** Makes room for phases in the segment found last, and in those to come. */
  keepPhases(): void {
    this.#form = { ...this.#form, packedBy: 0, hasPhases: true }
    if (this.segment.form.hasPhases) return
    this.segment = this.#reform(this.#indexOf(this.segment.high(this.slot)), this.#form)
  }

  /**
   * Looks at so many slots, or a few more, and removes what is over. @returns how many
   */
  sweep(looks: number, now: number, owner: SlotOwner): number {
    if (this.isResizing) {
      this.#moveOne()
      return this.#slots * LOOKS_A_MOVE
    }
    return this.#removeOver(looks, now, owner)
  }

  /** For a new key without room: as `sweep`, but also while the table is resized, and beyond its end. */
  makeRoom(looks: number, now: number, owner: SlotOwner): void {
    for (let looked = 0; looked < looks; ) looked += this.#removeOver(looks - looked, now, owner)
  }

  /** Gives its memory back to the budget. */
  drop(): void {
    this.#budget.bytes -= this.#reserved
    for (const segment of this.#segments) this.#budget.bytes -= segment?.bytes ?? 0
    this.#budget.keys -= this.count
  }

  #indexOf(high: number): number {
    const part = (high >>> 0) * 2 ** -32 // a power of two: products with it are as exact as those of integers
    const size = this.#size
    const target = this.#target
    const index = (part * size) | 0
    if (target === size) return index
    const isMoved = target > size ? index >= this.#frontier : index < this.#frontier
    return isMoved ? (part * target) | 0 : index
  }

  /** Up to the end of the table. @returns how many slots were looked at, at least one */
  #removeOver(looks: number, now: number, owner: SlotOwner): number {
    let looked = 0
    while (looked < looks) {
      const segment = this.#segments[this.#sweptSegment]
      let slot = this.#sweptSlot
      if (segment !== undefined) {
        const { mask, stride, prints } = segment
        for (; looked < looks && slot <= mask; looked++) {
          // What follows a state that was removed has moved into its slot: it is looked at next.
          const word = 2 * slot * stride
          const isEmpty = prints[word + 1] === 0 && prints[word] === 0
          if (!isEmpty && owner.isOver(segment, slot, now)) this.#remove(segment, slot, owner)
          else slot++
        }
        this.#sweptSlot = slot
        if (slot <= mask) break
      }
      this.#sweptSlot = 0
      if (++this.#sweptSegment < this.#segments.length) continue
      this.#sweptSegment = 0
      if (this.isResizing) return looked + 1
      this.#shrink()
      this.#peak = this.count
      return looked + owner.ended(now)
    }
    return looked
  }

  #newSegment(slots: number): SlotSegment {
    return new SlotSegment(slots, this.#form)
  }

  #remove(segment: SlotSegment, slot: number, owner: SlotOwner): void {
    owner.removes(segment, slot)
    segment.remove(slot)
    this.count--
    this.#budget.keys--
    this.#changed()
  }

  #changed(): void {
    this.version++
    this.#isMissed = false
  }

  #grow(): boolean {
    while (this.isResizing) this.#moveOne() // it has its size long before it is full
    const budget = this.#budget
    const only = this.#segments[0]!
    if (this.#size === 1 && only.mask + 1 < this.#slots) {
      if (!budget.hasRoom(only.bytes)) return false
      this.#enlarge(0)
      return true
    }
    if (this.#size === 1 && this.#packedBy > 0 && !this.#form.hasPhases) {
      this.#form = { ...this.#form, packedBy: this.#packedBy }
      this.#reform(0, this.#form)
    }
    let more = Math.max(1, Math.round(this.#size * GROWTH))
    while (!budget.hasRoom(bytesOf(more * this.#slots, this.#form))) {
      if (more === 1) return false
      more >>>= 1
    }
    this.#reserved = bytesOf(more * this.#slots, this.#form)
    budget.bytes += this.#reserved
    this.#target = this.#size + more
    while (this.#segments.length < this.#target) this.#segments.push(undefined)
    this.#frontier = this.#size
    this.#moveOne()
    return true
  }

  #shrink(): void {
    if (this.count === 0 && (this.#size > 1 || this.#segments[0]!.mask + 1 > SMALLEST)) this.#clear()
    else if (this.#size > 1 && this.#peak < this.#size * this.#slots * SPARSE) {
      this.#target = (this.#size + 1) >>> 1
      this.#frontier = 0
    } else if (this.#size === 1 && this.#peak < (this.#segments[0]!.mask + 1) * (SPARSE / 2)) {
      let slots = SMALLEST
      while (slots * FILL < this.#peak * 1.4 + 1) slots *= 2
      this.#replace(0, slots)
    }
  }

  /** An empty table becomes as small as a new one. */
  #clear(): void {
    for (const segment of this.#segments) this.#budget.bytes -= segment!.bytes
    this.#size = 1
    this.#target = 1
    this.#form = { ...this.#form, packedBy: 0 }
    this.#segments.length = 0
    this.segment = this.#newSegment(SMALLEST)
    this.#segments.push(this.segment)
    this.#budget.bytes += this.segment.bytes
    this.#changed()
  }

  /** Gives away what belongs to other segments by now, out of the next one. */
  #moveOne(): void {
    const target = this.#target
    const grows = target > this.#size
    const index = grows ? --this.#frontier : this.#frontier++
    if (grows) this.#make(index)
    const segment = this.#segments[index]!
    const { mask, stride, prints } = segment
    const share = target * 2 ** -32
    let start = 0
    while (!segment.isEmpty(start)) start++
    // From an empty slot on, so that a state that stays moves to a slot that was looked at, and no probe ends early.
    for (let i = 1; i <= mask; i++) {
      const slot = (start + i) & mask
      const high = prints[2 * slot * stride]!
      if (high === 0 && segment.isEmpty(slot)) continue
      const to = ((high >>> 0) * share) | 0
      if (to === index) segment.settle(slot)
      else {
        this.#put(to, segment, slot)
        segment.clear(slot)
      }
    }
    this.#changed()
    if (this.#frontier === (grows ? 0 : this.#size)) this.#finish()
  }

  /** Makes the segments to which the states of another one go, as far as there are none. */
  #make(index: number): void {
    const first = Math.floor((index * this.#target) / this.#size)
    const last = Math.min(this.#target - 1, Math.floor(((index + 1) * this.#target) / this.#size))
    for (let i = first; i <= last; i++) {
      if (this.#segments[i] !== undefined) continue
      const segment = this.#newSegment(this.#slots)
      const reserved = Math.min(this.#reserved, segment.bytes)
      this.#reserved -= reserved
      this.#budget.bytes += segment.bytes - reserved
      this.#segments[i] = segment
    }
  }

  #finish(): void {
    const before = this.#size
    this.#size = this.#target
    this.#budget.bytes -= this.#reserved
    this.#reserved = 0
    for (let i = this.#size; i < before; i++) this.#budget.bytes -= this.#segments[i]!.bytes
    if (before <= this.#size) return
    this.#segments.length = this.#size
    this.segment = this.#segments[0]!
    this.#sweptSegment = 0
    this.#sweptSlot = 0
    this.#shrink()
  }

  /** Copies a state to its segment, which is another one. */
  #put(index: number, from: SlotSegment, slot: number): void {
    let to = this.#segments[index]!
    if (isFull(to)) to = this.#enlarge(index)
    const low = from.low(slot)
    const at = to.freeSlot(low)
    if (isSame(from.form, to.form)) {
      to.copy(from, slot, at)
      return
    }
    from.read(slot, this.#spare)
    const isWide = from.form.hasPhases && !to.form.hasPhases
    if (isWide || !to.fits(this.#spare)) {
      to = this.#reform(index, isWide ? from.form : { ...to.form, packedBy: 0 })
      from.read(slot, this.#spare)
    }
    to.take(at, from.high(slot), low)
    to.write(at, this.#spare)
    to.setPhase(at, from.phase(slot))
  }

  #enlarge(index: number): SlotSegment {
    return this.#replace(index, 2 * (this.#segments[index]!.mask + 1))
  }

  /** Puts one with so many slots in a segment's place. */
  #replace(index: number, slots: number): SlotSegment {
    const before = this.#segments[index]!
    const segment = new SlotSegment(slots, before.form)
    for (let slot = 0; slot <= before.mask; slot++)
      if (!before.isEmpty(slot)) segment.copy(before, slot, segment.freeSlot(before.low(slot)))
    return this.#exchange(index, segment)
  }

  /** Writes a segment in another form, slot by slot. */
  #reform(index: number, form: Form): SlotSegment {
    const before = this.#segments[index]!
    const segment = new SlotSegment(before.mask + 1, form)
    for (let slot = 0; slot <= before.mask; slot++) {
      if (before.isEmpty(slot)) continue
      before.read(slot, this.#spare)
      if (!segment.fits(this.#spare)) return before // it stays as it is
      segment.take(slot, before.high(slot), before.low(slot))
      segment.write(slot, this.#spare)
      segment.setPhase(slot, before.phase(slot))
    }
    return this.#exchange(index, segment)
  }

  #exchange(index: number, segment: SlotSegment): SlotSegment {
    this.#budget.bytes += segment.bytes - this.#segments[index]!.bytes
    this.#segments[index] = segment
    this.#changed()
    return segment
  }
}

/** What a table asks of whoever keeps states in it. */
export interface SlotOwner {
  /** Whether the state in a slot means nothing any more. */
  isOver(segment: SlotSegment, slot: number, now: number): boolean
  /** A slot is about to be removed. */
  removes(segment: SlotSegment, slot: number): void
  /** A sweep came to the end. @returns how many other places were looked at */
  ended(now: number): number
}

function isFull({ count, mask }: SlotSegment): boolean {
  return count + 1 > (mask + 1) * FULLEST
}

function isSame(a: Form, b: Form): boolean {
  return a === b || (a.packedBy === b.packedBy && a.hasPhases === b.hasPhases)
}
