import type { Cells } from '../../core/decide/algorithm.ts'
import type { SlotSegment } from './segment.ts'
import { Segments } from './segments.ts'
import type { Budget } from './state-table.ts'

/** A hash table of {@link Segments}: finds, adds and removes states. */
export class SlotTable {
  count = 0
  /** Where `find` found a state, or where there is room for it. */
  segment: SlotSegment
  slot = 0
  readonly #budget: Budget
  readonly #segments: Segments
  /** The most of `count` since the last sweep from end to end: a table that fills again would only shrink to grow. */
  #peak = 0
  /** The version in which the fingerprint below may be added at `segment` and `slot`. */
  #missed = -1
  #high = 0
  #low = 0
  /** The place to be swept next. */
  #sweptSegment = 0
  #sweptSlot = 0

  /** The parameters are those of {@link Segments}. */
  constructor(size: number, packedBy: number, budget: Budget, slots?: number) {
    this.#budget = budget
    this.#segments = new Segments(size, packedBy, budget, slots)
    this.segment = this.#segments.all[0]!
  }

  /** Another number whenever a state may be elsewhere, or was written in another form than its algorithm's. */
  get version(): number {
    return this.#segments.version
  }

  get isAtEnd(): boolean {
    return this.#sweptSegment === 0 && this.#sweptSlot === 0 && !this.#segments.isSlow(this.count)
  }

  find(high: number, low: number): boolean {
    const segment = this.#segments.of(high, low)
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
    this.#missed = isFound ? -1 : this.#segments.version
    this.#high = high
    this.#low = low
    return isFound
  }

  /** Whether the last `find` was for this fingerprint, in vain, and it need not be looked for again. */
  hasMissed(high: number, low: number): boolean {
    return this.#missed === this.#segments.version && this.#high === high && this.#low === low
  }

  /** Whether one more state fits; the table grows for it, if it may. */
  hasRoom(): boolean {
    return this.#segments.hasRoom(this.count + 1)
  }

  /** Adds a fingerprint that is not in it, with zeros for integers, after `hasRoom`. It is at `segment`, `slot` then. */
  add(high: number, low: number): void {
    this.#segments.prepare(high, low)
    if (!this.hasMissed(high, low)) this.find(high, low)
    this.segment.take(this.slot, high, low)
    this.#missed = -1
    this.count++
    if (this.count > this.#peak) this.#peak = this.count
  }

  /** Writes the integers of a state in its segment's form, or the segment in one in which they can be. */
  write(segment: SlotSegment, slot: number, cells: Cells): void {
    if (segment.fits(cells)) segment.write(slot, cells)
    else {
      this.#unpack(segment, slot, false)
      this.segment.write(this.slot, cells)
    }
    this.#segments.version++
  }

  /** Makes room for phases in the segment found last, and in those to come. */
  keepPhases(): void {
    if (!this.segment.form.hasPhases) this.#unpack(this.segment, this.slot, true)
  }

  /**
   * Looks at so many slots, or a few more, and removes what is over; or resizes, where new keys do not.
   * @returns how many
   */
  sweep(looks: number, now: number, owner: SlotOwner): number {
    return this.#segments.isSlow(this.count)
      ? this.#segments.move(looks)
      : this.#removeOver(looks, now, owner)
  }

  /** For a new key without room: as `sweep`, but it only removes, also beyond the end. */
  makeRoom(looks: number, now: number, owner: SlotOwner): void {
    for (let looked = 0; looked < looks; ) looked += this.#removeOver(looks - looked, now, owner)
  }

  /** Gives its memory back to the budget. */
  drop(): void {
    this.#segments.drop()
    this.#budget.keys -= this.count
  }

  /** The state is at `segment`, `slot` then. */
  #unpack(segment: SlotSegment, slot: number, withPhases: boolean): void {
    const high = segment.high(slot)
    const low = segment.low(slot)
    this.#segments.unpack(high, low, withPhases)
    this.find(high, low)
  }

  /** Up to the end of the table. @returns how many slots were looked at, at least one */
  #removeOver(looks: number, now: number, owner: SlotOwner): number {
    const { all } = this.#segments
    let looked = 0
    while (looked < looks) {
      const segment = all[this.#sweptSegment]
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
      if (++this.#sweptSegment < all.length) continue
      this.#sweptSegment = 0
      if (!this.#segments.isResizing) this.#segments.shrink(this.count === 0, this.#peak)
      this.#peak = this.count
      return looked + owner.ended(now)
    }
    return looked
  }

  #remove(segment: SlotSegment, slot: number, owner: SlotOwner): void {
    owner.removes(segment, slot)
    segment.remove(slot)
    this.count--
    this.#budget.keys--
    this.#segments.version++
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
