import { describe, expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { Fingerprint } from './fingerprint.ts'
import { FixedStates } from './fixed-states.ts'
import { Budget } from './state-table.ts'

const plan = planOf({ algorithm: 'fixed-window', limit: 5, period: '1m' })

describe('a table of fixed states', () => {
  it('counts a key once that comes back while its expired state waits to be moved', () => {
    const budget = new Budget(10_000, 1e9)
    const table = new FixedStates(plan, budget, new Fingerprint(Math.random))
    const place = (key: string, now: number): void => {
      const at = table.place(key, now, 0)
      plan.algorithm.charge(plan, table.cells, at, 0, now, 1, 0, 5)
      table.cells[at] = now
    }
    budget.keys += 2_000 // with so many keys expired ones may be dropped
    for (let i = 0; i < 96; i++) place(`old ${i}`, 1)
    place('new', 1e12) // begins a smaller table
    for (let i = 0; i < 96; i++) place(`old ${i}`, 1e12)
    expect(table.count).toBe(97)
    expect(budget.keys).toBe(2_097)
  })

  it('holds what it was replaced for, and more when other tables have emptied meanwhile', () => {
    const budget = new Budget(10_000, 1e9)
    const table = new FixedStates(plan, budget, new Fingerprint(Math.random))
    const place = (key: string, now: number): void => {
      const at = table.place(key, now, 0)
      plan.algorithm.charge(plan, table.cells, at, 0, now, 1, 0, 5)
      table.cells[at] = now
    }
    for (let i = 0; i < 96; i++) place(`old ${i}`, 1)
    budget.keys += 2_000 // with so many keys the old ones may be dropped: the next table is made for a few
    place('new', 1e12)
    budget.keys -= 2_000 // with so few they may not
    for (let i = 0; i < 20; i++) place(`newer ${i}`, 1e12)
    for (let i = 0; i < 96; i++) expect(table.locate(`old ${i}`, 1e12)).toBeGreaterThanOrEqual(0)
    expect(table.count).toBe(117)
    expect(budget.keys).toBe(117)
  })
})
