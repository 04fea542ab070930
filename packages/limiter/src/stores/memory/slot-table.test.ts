import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fingerprint } from './fingerprint.ts'
import { SlotSegment } from './segment.ts'
import { type SlotOwner, SlotTable } from './slot-table.ts'
import { Budget } from './state-table.ts'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
const RUNS = Number(process.env.SLUICE_RUNS ?? 60)
const PERIOD = 1_000

/** The states of keys in a plain Map, beside those in the table. A state is over once its first integer is so old. */
class Pair implements SlotOwner {
  readonly states = new Map<number, { cells: number[]; phase: number }>()
  readonly budget = new Budget(1e9, 1e12)
  readonly table: SlotTable
  readonly #spread: number
  readonly #lifetime: number
  readonly #cells = new Float64Array(3)
  readonly #keys = new Map<string, number>()

  constructor(slots: number, isPacked: boolean, spread: number, lifetime: number) {
    this.table = new SlotTable(3, isPacked ? PERIOD : 0, this.budget, slots)
    this.#spread = spread
    this.#lifetime = lifetime
  }

  isOver({ cells, form }: SlotSegment, slot: number, now: number): boolean {
    return cells[slot * (form.packedBy > 0 ? 3 : form.hasPhases ? 5 : 4) + 1]! + this.#lifetime <= now
  }

  removes(segment: SlotSegment, slot: number): void {
    const key = this.#keys.get(`${segment.high(slot)} ${segment.low(slot)}`)!
    if (!this.states.delete(key)) throw new Error('a state was removed twice')
  }

  ended(): number {
    return 0
  }

  /** With a small spread many keys share the slot where they would be, or the segment. */
  high(key: number): number {
    return Math.imul(key % this.#spread, 0x9e3779b1) | 0
  }

  low(key: number): number {
    return Math.imul(Math.floor(key / this.#spread) + 1, 0x85ebca6b) | 1
  }

  find(key: number): boolean {
    return this.table.find(this.high(key), this.low(key))
  }

  /** Writes a state, a new one where there is none. */
  put(key: number, cells: number[], phase: number): void {
    const isKnown = this.find(key)
    if (isKnown !== this.states.has(key))
      throw new Error(`${key} is ${isKnown ? 'still' : 'no longer'} there`)
    if (!isKnown) {
      if (!this.table.hasRoom()) return
      this.budget.keys++
      this.table.add(this.high(key), this.low(key))
      this.#keys.set(`${this.high(key)} ${this.low(key)}`, key)
      if (!this.isAt([0, 0, 0], 0)) throw new Error('a new state is not zero')
    }
    if (phase > 0) this.table.keepPhases()
    const { segment, slot } = this.table
    this.table.write(segment, slot, Float64Array.from(cells))
    this.find(key)
    this.table.segment.setPhase(this.table.slot, phase)
    this.states.set(key, { cells, phase: this.table.segment.form.hasPhases ? phase : 0 })
  }

  isAt(cells: readonly number[], phase: number): boolean {
    const { segment, slot } = this.table
    segment.read(slot, this.#cells)
    return cells.every((cell, i) => cell === this.#cells[i]) && segment.phase(slot) === phase
  }

  expectAll(): void {
    const wrong = [...this.states].filter(
      ([key, { cells, phase }]) => !this.find(key) || !this.isAt(cells, phase),
    )
    expect(wrong).toEqual([])
    expect([this.table.count, this.budget.keys]).toEqual([this.states.size, this.states.size])
  }

  /** Slots there are for each state; never more than a new table has. */
  get slack(): number {
    return (this.budget.bytes - 32 * 40) / 24 / (this.states.size + 1)
  }
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant('add' as const), count: fc.integer({ min: 1, max: 400 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('back' as const), count: fc.integer({ min: 1, max: 100 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('pass' as const), count: fc.integer({ min: 1, max: 900 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('sweep' as const, 'room' as const),
      count: fc.integer({ min: 1, max: 2_000 }),
    }),
  },
)

describe(`a table of segments (SLUICE_SEED=${SEED})`, () => {
  it('holds what a plain Map holds, whatever grows, shrinks, is packed, expires or comes back', () => {
    const shape = fc.record({
      slots: fc.constantFrom(16, 32, 128),
      isPacked: fc.boolean(),
      spread: fc.constantFrom(1, 7, 300, 1_000_003),
      lifetime: fc.constantFrom(50, 400, 5_000),
      odd: fc.constantFrom(0, 0, 3, 17),
      phases: fc.constantFrom(0, 0, 0, 5),
    })
    const property = fc.property(
      shape,
      fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }),
      (form, steps) => {
        const pair = new Pair(form.slots, form.isPacked, form.spread, form.lifetime)
        let next = 0
        let now = 1
        const cellsOf = (key: number): number[] => {
          const isOdd = form.odd > 0 && key % form.odd === 0
          // What cannot be packed: a rest below 0, or an amount beyond 2^53.
          return isOdd ? [now, key % 2 === 0 ? 2 ** 50 : 5, -7] : [now, key % 40, (key * 7) % PERIOD]
        }
        const phaseOf = (key: number): number => (form.phases > 0 && key % form.phases === 0 ? key : 0)
        for (const { does, count } of steps) {
          for (let i = 0; i < count; i++) {
            if (does === 'pass') now++
            else if (does === 'add') {
              pair.put(next, cellsOf(next), phaseOf(next))
              next++
            } else if (does === 'back') {
              const key = (i * 7_919) % (next + 1)
              pair.put(key, cellsOf(key), phaseOf(key))
            }
          }
          if (does === 'sweep') pair.table.sweep(count, now, pair)
          if (does === 'room') pair.table.makeRoom(count, now, pair)
          pair.expectAll()
        }
        now += 10_000
        for (let i = 0; i < 5_000 && pair.states.size > 0; i++) pair.table.sweep(10_000, now, pair)
        expect(pair.states.size).toBe(0)
        // A sweep from the start to the end finds the table empty: one that had begun before may not.
        for (let ends = 0, i = 0; ends < 2 && i < 5_000; i++) {
          pair.table.sweep(10_000, now, pair)
          if (pair.table.isAtEnd) ends++
        }
        expect(pair.budget.bytes).toBeLessThanOrEqual(16 * 40)
        pair.table.drop()
        expect([pair.budget.bytes, pair.budget.keys]).toEqual([0, 0])
      },
    )
    fc.assert(property, { numRuns: RUNS, seed: SEED })
  })

  it('grows by a fifth: at most a third of its slots is empty', () => {
    const pair = new Pair(128, true, 1_000_003, 1_000)
    let slack = 0
    for (let key = 0; key < 20_000; key++) {
      pair.put(key, [1, 1, 1], 0)
      if (key > 1_500) slack = Math.max(slack, pair.slack)
    }
    expect(slack).toBeLessThan(1 / 0.66)
    pair.expectAll()
  })

  it('shrinks by a few looks for each slot', () => {
    const pair = new Pair(128, false, 1_000_003, 100)
    for (let key = 0; key < 20_000; key++) pair.put(key, [key < 1_000 ? 1_000 : 1, 1, 1], 0)
    const { bytes } = pair.budget
    const slots = bytes / 32
    // One sweep removes, the next one finds that the table was sparse meanwhile, and then it is halved.
    for (let looked = 0; looked < 6 * slots; ) looked += pair.table.sweep(10_000, 1_000, pair)
    expect(pair.budget.bytes).toBeLessThan(0.6 * bytes)
    pair.expectAll()
  })

  it.each([
    ['never a whole segment of them', 8_192, 1e12],
    ['also where there are not the bytes to grow by a fifth', 1_024, 1_000_000],
  ])('moves a few states for each new key, %s', (_, slots, maxBytes) => {
    const print = new Fingerprint(() => 0.5)
    const table = new SlotTable(3, PERIOD, new Budget(1e9, maxBytes), slots)
    const { copy } = SlotSegment.prototype
    let copies = 0
    SlotSegment.prototype.copy = function (...given): void {
      copies++
      copy.apply(this, given)
    }
    try {
      let most = 0
      let refused = 0
      for (let key = 0; key < 60_000; key++) {
        print.of(`key ${key}`)
        copies = 0
        if (table.hasRoom()) table.add(print.high, print.low)
        else refused++
        if (key > 8_192) most = Math.max(most, copies)
      }
      expect(table.count + refused).toBe(60_000)
      expect(table.count).toBeGreaterThan((0.7 * Math.min(maxBytes, 60_000 * 24)) / 24)
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThan(1_024)
    } finally {
      SlotSegment.prototype.copy = copy
    }
  })

  it('takes no more bytes than it may, and goes on as it is', () => {
    const pair = new Pair(128, false, 1_000_003, 1_000)
    const bounded = new Budget(1e9, 100_000)
    const table = new SlotTable(3, 0, bounded, 128)
    let refused = 0
    for (let key = 0; key < 20_000; key++) {
      if (!table.hasRoom()) refused++
      else table.add(pair.high(key), pair.low(key))
      if (bounded.bytes > 100_000) throw new Error('too many bytes')
    }
    expect(table.count).toBeGreaterThan(2_000)
    expect(refused).toBe(20_000 - table.count)
  })
})
