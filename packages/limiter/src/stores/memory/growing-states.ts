import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import { NO_CELLS, withRoom } from '../../core/decide/run.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type Budget, DUE_BY_KEY, Keeps, type MemorySlot, OVERFLOW, type StateTable } from './state-table.ts'

const EMPTY = new Float64Array(0)
/** A JS Map holds 2^24 entries and throws at the next. */
const MAP_LIMIT = 16_000_000
/** States looked at for one that has expired, before a new key has to share a bucket. */
const LOOKS_FOR_ROOM = 64
/** Measured in Node 20: a Map's entry, the head of a text, and an array without its numbers. */
const BYTES_PER_KEY = 270
/** Where a text of up to so many units is cut out of another one, V8 copies it. */
const COPIED_BY_V8 = 12

/** The states of one policy that keeps an entry for each admission or slot: a run of its own for every key. */
export class GrowingStates implements StateTable {
  cells: Cells = EMPTY
  lastPlan: StatePlan
  namespace = ''
  next: StateTable | undefined = undefined
  isAtEnd = true
  readonly overflow = undefined
  readonly version = 0
  readonly keeps: Keeps
  readonly #budget: Budget
  readonly #print: Fingerprint
  readonly #runs = new Map<string, Cells>()
  readonly #shared = new Map<number, Cells>()
  #cursor = this.#runs.keys()
  /** States left of those there were when this round began: new ones stand behind, and might be followed for ever. */
  #round = 0

  constructor(plan: StatePlan, budget: Budget, print: Fingerprint) {
    this.keeps = new Keeps(plan)
    this.lastPlan = plan
    this.#budget = budget
    this.#print = print
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.#shared.size === 0
  }

  find(text: string, now: number, slot: MemorySlot): void {
    const key = this.#print.short(text)
    slot.table = this
    slot.cells = this.#runs.get(key) ?? this.#sharedRun(key, now) ?? NO_CELLS
    slot.offset = 0
  }

  place(text: string, now: number, slot: MemorySlot): void {
    const key = this.#print.short(text)
    this.find(text, now, slot)
    const isNew = slot.cells === NO_CELLS
    this.cells = isNew ? EMPTY : slot.cells
    if (isNew ? this.#hasRoom(key, now) : this.#runs.has(key)) this.#placeOwn(key, now, isNew)
    else this.#placeShared(this.#bucket(key), now)
    slot.cells = this.cells
  }

  keep(): void {}

  sweep(looks: number, now: number): number {
    this.isAtEnd = false
    let looked = 0
    for (; looked < looks; looked++) {
      const { value: key, done } = this.#cursor.next()
      if (done || key === undefined || this.#round-- === 0) return looked + this.#end(now)
      const run = this.#runs.get(key)!
      if (!this.#isOver(run, now)) continue
      this.#runs.delete(key)
      this.#budget.keys--
      this.#budget.bytes -= bytesOf(key, run)
    }
    return looked
  }

  drop(): void {
    for (const [key, run] of this.#runs) this.#budget.bytes -= bytesOf(key, run)
    for (const run of this.#shared.values()) this.#budget.bytes -= bytesOf('', run)
    this.#budget.keys -= this.#runs.size
  }

  /** Begins anew. @returns how many shared buckets were looked at */
  #end(now: number): number {
    this.isAtEnd = true
    this.#cursor = this.#runs.keys()
    this.#round = this.#runs.size
    this.keeps.renew(this.lastPlan, now)
    let looked = 0
    for (const [bucket, run] of this.#shared) {
      looked++
      if (!this.#isOver(run, now)) break
      this.#shared.delete(bucket)
      this.#budget.bytes -= bytesOf('', run)
    }
    return looked
  }

  #hasRoom(key: string, now: number): boolean {
    this.#budget.due -= DUE_BY_KEY
    if (this.#isFull(key)) this.sweep(LOOKS_FOR_ROOM, now)
    return !this.#isFull(key)
  }

  #isFull(key: string): boolean {
    return this.#budget.isFull || this.#runs.size >= MAP_LIMIT || !this.#budget.hasRoom(bytesOf(key, EMPTY))
  }

  #placeOwn(key: string, now: number, isNew: boolean): void {
    if (!this.#resize(now)) return
    if (isNew) {
      this.#budget.keys++
      this.#budget.bytes += bytesOf(key, EMPTY)
    }
    this.#runs.set(isNew ? ownText(key) : key, this.cells)
  }

  /** As in FixedStates: beyond a cap keys share buckets, and stay there while the bucket counts. */
  #placeShared(bucket: number, now: number): void {
    this.#budget.shared++
    const known = this.#shared.get(bucket)
    this.cells = known ?? EMPTY
    if (!this.#resize(now)) return
    if (known === undefined) this.#budget.bytes += bytesOf('', EMPTY)
    this.#shared.set(bucket, this.cells)
  }

  /**
   * Makes room in the run for one more charge. Where there are no bytes for it, it stays as it is, and the algorithm
   * keeps its entries less exactly.
   * @returns whether it is another one now
   */
  #resize(now: number): boolean {
    const before = this.cells
    const run = withRoom(this.keeps.plan, before, now)
    const bytes = run.byteLength - before.byteLength
    if (run === before || (bytes > 0 && before !== EMPTY && !this.#budget.hasRoom(bytes))) return false
    this.#budget.bytes += bytes
    this.cells = run
    return true
  }

  #sharedRun(key: string, now: number): Cells | undefined {
    if (this.#shared.size === 0) return undefined
    const run = this.#shared.get(this.#bucket(key))
    return run !== undefined && !this.#isOver(run, now) ? run : undefined
  }

  #isOver(run: Cells, now: number): boolean {
    return this.keeps.isOver(run, 0, now)
  }

  #bucket(key: string): number {
    this.#print.of(key)
    return this.#print.low & (OVERFLOW - 1)
  }
}

/** What a key and its run take, as characters of two bytes. */
function bytesOf(key: string, run: Cells): number {
  return BYTES_PER_KEY + 2 * key.length + run.byteLength
}

/** The same text, copied: one that is cut out of a header or a body would keep all of that in memory. */
function ownText(text: string): string {
  return text.length <= COPIED_BY_V8 ? text : text.split('').join('')
}
