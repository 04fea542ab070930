import type { Cells } from '../../core/decide/algorithm.ts'
import { floorDiv, MAX } from '../../core/decide/integers.ts'

/** How the states of a segment are written. */
export interface Form {
  /** Integers of a state, as its algorithm counts them. */
  readonly size: number
  /**
   * Above 0: the second and the third integer are one number, so many times the second and the third. They are an
   * amount of level.ts: whole units, and the rest in 1/period in microseconds.
   */
  readonly packedBy: number
  /** Whether the key's phase stands behind the integers. */
  readonly hasPhases: boolean
}

/** All forms are made here: so all have one shape for the engine, which a copy by `...` has not. */
export function newForm(size: number, packedBy: number, hasPhases: boolean): Form {
  return { size, packedBy, hasPhases }
}

/**
 * Open addressing in one ArrayBuffer, linear probing: a slot is a fingerprint and a state. No object for any key. There
 * is always an empty slot: whoever adds sees to it.
 */
export class SlotSegment {
  count = 0
  readonly mask: number
  /** Numbers in one slot. */
  readonly stride: number
  readonly form: Form
  readonly cells: Cells
  /** The same memory as `cells`: a slot's first 8 bytes are its fingerprint. */
  readonly prints: Int32Array

  /** @param slots a power of two */
  constructor(slots: number, form: Form) {
    this.mask = slots - 1
    this.form = form
    this.stride = strideOf(form)
    this.cells = new Float64Array(slots * this.stride)
    this.prints = new Int32Array(this.cells.buffer)
  }

  get bytes(): number {
    return this.cells.byteLength
  }

  isEmpty(slot: number): boolean {
    const word = 2 * slot * this.stride
    return this.prints[word + 1] === 0 && this.prints[word] === 0
  }

  high(slot: number): number {
    return this.prints[2 * slot * this.stride]!
  }

  low(slot: number): number {
    return this.prints[2 * slot * this.stride + 1]!
  }

  /** Where the integers of a slot begin. */
  offset(slot: number): number {
    return slot * this.stride + 1
  }

  /** The first empty slot on the way of a fingerprint. */
  freeSlot(low: number): number {
    const { mask, stride, prints } = this
    let slot = low & mask
    while (prints[2 * slot * stride + 1] !== 0 || prints[2 * slot * stride] !== 0) slot = (slot + 1) & mask
    return slot
  }

  /** Writes a fingerprint, and zeros, into an empty slot. */
  take(slot: number, high: number, low: number): void {
    const { stride, cells, prints } = this
    const word = slot * stride
    prints[2 * word] = high
    prints[2 * word + 1] = low
    for (let i = word + 1; i < word + stride; i++) cells[i] = 0
    this.count++
  }

  /** Takes a slot out and closes the gap, so that no probe ends early. */
  remove(slot: number): void {
    const { mask } = this
    let gap = slot
    for (let next = (gap + 1) & mask; !this.isEmpty(next); next = (next + 1) & mask) {
      if (((next - (this.low(next) & mask)) & mask) < ((next - gap) & mask)) continue
      this.#copy(next, gap)
      gap = next
    }
    this.clear(gap)
  }

  /** Takes a slot out and leaves the gap: whoever calls it moves what stands behind. */
  clear(slot: number): void {
    const word = 2 * slot * this.stride
    this.prints[word] = 0
    this.prints[word + 1] = 0
    this.count--
  }

  /** Moves a slot to the first empty one on its way. */
  settle(slot: number): void {
    const { mask } = this
    for (let to = this.low(slot) & mask; to !== slot; to = (to + 1) & mask) {
      if (!this.isEmpty(to)) continue
      this.#copy(slot, to)
      this.clear(slot)
      this.count++
      return
    }
  }

  /** Copies another segment's state, which has the same form, into an empty slot. */
  copy(from: SlotSegment, at: number, slot: number): void {
    const { stride, cells, prints } = this
    const source = at * stride
    const word = slot * stride
    prints[2 * word] = from.prints[2 * source]!
    prints[2 * word + 1] = from.prints[2 * source + 1]!
    for (let i = 1; i < stride; i++) cells[word + i] = from.cells[source + i]!
    this.count++
  }

  /** Copies the integers of a slot, as the algorithm counts them, to the front of `to`. */
  read(slot: number, to: Cells): void {
    const { cells, form } = this
    const at = this.offset(slot)
    to[0] = cells[at]!
    if (form.packedBy === 0) {
      for (let i = 1; i < form.size; i++) to[i] = cells[at + i]!
      return
    }
    const amount = cells[at + 1]!
    const whole = floorDiv(amount, form.packedBy)
    to[1] = whole
    to[2] = amount - whole * form.packedBy
  }

  /** Whether the integers can be written in the segment's form. */
  fits(cells: Cells): boolean {
    const { packedBy } = this.form
    return (
      packedBy === 0 || (cells[2]! >= 0 && cells[2]! < packedBy && cells[1]! * packedBy + cells[2]! <= MAX)
    )
  }

  /** Integers that fit. */
  write(slot: number, from: Cells): void {
    const { cells, form } = this
    const at = this.offset(slot)
    cells[at] = from[0]!
    if (form.packedBy > 0) cells[at + 1] = from[1]! * form.packedBy + from[2]!
    else for (let i = 1; i < form.size; i++) cells[at + i] = from[i]!
  }

  phase(slot: number): number {
    return this.form.hasPhases ? this.cells[this.offset(slot) + this.form.size]! : 0
  }

  setPhase(slot: number, phase: number): void {
    if (this.form.hasPhases) this.cells[this.offset(slot) + this.form.size] = phase
  }

  /** The fingerprint as two integers: as a number it might be one that is not kept bit for bit. */
  #copy(from: number, to: number): void {
    this.copy(this, from, to)
    this.count--
  }
}

export function strideOf({ size, packedBy, hasPhases }: Form): number {
  return 1 + (packedBy > 0 ? size - 1 : size) + (hasPhases ? 1 : 0)
}
