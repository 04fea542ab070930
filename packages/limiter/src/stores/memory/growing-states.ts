import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import { droppableAt } from '../../core/decide/figures.ts'
import { withRoom } from '../../core/decide/run.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type KeyBudget, OVERFLOW, type StateTable } from './state-table.ts'

const EMPTY = new Float64Array(0)
/** Longest key that is kept as it is, in UTF-16 units. */
const LONGEST_KEY = 64
/** A JS Map holds 2^24 entries and throws at the next. */
const MAP_LIMIT = 16_000_000

/** The states of one policy that keeps an entry for each admission or slot: a run of its own for every key. */
export class GrowingStates implements StateTable {
  cells: Cells = EMPTY
  keeps: StatePlan
  lastPlan: StatePlan
  next: StateTable | undefined = undefined
  lag = 0
  readonly plans: WeakSet<StatePlan>
  readonly #budget: KeyBudget
  readonly #print: Fingerprint
  readonly #runs = new Map<string, Cells>()
  readonly #overflow = new Map<number, Cells>()
  #cursor = this.#runs.keys()

  constructor(plan: StatePlan, budget: KeyBudget, print: Fingerprint) {
    this.keeps = plan
    this.lastPlan = plan
    this.plans = new WeakSet([plan])
    this.#budget = budget
    this.#print = print
  }

  get count(): number {
    return this.#runs.size
  }

  locate(text: string, now: number): number {
    const key = this.#short(text)
    const run = this.#runs.get(key) ?? this.#sharedRun(key, now)
    this.cells = run ?? EMPTY
    return run === undefined ? -1 : 0
  }

  place(text: string, now: number): number {
    const key = this.#short(text)
    const found = this.locate(text, now) >= 0
    const shared = found ? !this.#runs.has(key) : this.#full()
    const run = withRoom(this.keeps, this.cells, now)
    if (run === this.cells) return 0
    this.cells = run
    if (shared) {
      this.#overflow.set(this.#bucket(key), run)
      this.#budget.shared++
    } else {
      if (!found) this.#budget.keys++
      this.#runs.set(key, run)
    }
    return 0
  }

  sweep(states: number, now: number): void {
    for (let i = 0; i < states; i++) {
      const { value: key, done } = this.#cursor.next()
      if (done || key === undefined) {
        this.#cursor = this.#runs.keys()
        return
      }
      if (droppableAt(this.keeps, this.#runs.get(key)!, 0) > now - this.lag) continue
      this.#runs.delete(key)
      this.#budget.keys--
    }
  }

  #full(): boolean {
    return this.#budget.keys >= this.#budget.max || this.#runs.size >= MAP_LIMIT
  }

  /** As in FixedStates: beyond the cap keys share buckets, and stay there while the bucket counts. */
  #sharedRun(key: string, now: number): Cells | undefined {
    if (this.#overflow.size === 0) return undefined
    const run = this.#overflow.get(this.#bucket(key))
    return run !== undefined && droppableAt(this.keeps, run, 0) > now - this.lag ? run : undefined
  }

  /** Long keys are kept as their fingerprint: what a caller sends must not decide how much is kept. */
  #short(key: string): string {
    if (key.length <= LONGEST_KEY) return key
    this.#print.of(key)
    return `${this.#print.high}.${this.#print.low}.${key.length}`.padEnd(LONGEST_KEY + 1, '.')
  }

  #bucket(key: string): number {
    this.#print.of(key)
    return this.#print.low & (OVERFLOW - 1)
  }
}
