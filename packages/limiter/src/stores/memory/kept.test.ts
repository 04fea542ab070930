import { describe, expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { FakeClock, stepFor } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import type { Step } from '../store.ts'
import { SlotTable } from './slot-table.ts'
import { Budget } from './state-table.ts'

/** Enough keys for states to be deleted, and enough decisions to look at all of them. */
function crowd(store: MemoryStore, step: Step): void {
  for (let i = 0; i < 2_000; i++) store.decide([{ ...step, key: `crowd ${i % 300}` }], false)
}

describe('a state that counts is not deleted', () => {
  it('when a bucket that was refilled by intervals is refilled continuously', () => {
    for (const first of [10, 0]) {
      const clock = new FakeClock()
      const store = new MemoryStore({ clock })
      const bucket = { algorithm: 'token-bucket', period: '1s', burst: 10 } as const
      crowd(store, stepFor(planOf({ ...bucket, limit: first, refill: 'interval' })))
      const step = stepFor(planOf({ ...bucket, limit: 10 }))
      for (let second = 0; second < 20; second++) {
        crowd(store, step)
        clock.advance(1_000)
      }
      const offender = { ...step, key: 'offender', cost: 10 }
      expect(store.decide([offender], false).allowed).toBe(true)
      crowd(store, step)
      clock.advance(900)
      crowd(store, step)
      expect(store.decide([offender], false).allowed).toBe(false)
      store.close()
    }
  })

  it('when windows that were spread are not spread any more', () => {
    const clock = new FakeClock()
    const store = new MemoryStore({ clock })
    const step = stepFor(planOf({ algorithm: 'fixed-window', limit: 2, period: '2s' }))
    clock.advance(500)
    store.decide([{ ...step, key: 'offender', phase: 700_000 }], false)
    crowd(store, step)
    expect(store.decide([{ ...step, key: 'offender' }], false).allowed).toBe(true)
    clock.advance(300) // a spread window would be over
    crowd(store, step)
    expect(store.decide([{ ...step, key: 'offender' }], false).allowed).toBe(false)
    store.close()
  })
})

it('a table makes room while it is resized, and at its end goes on from its beginning', () => {
  for (const keys of [200, 3_000, 3_100, 3_200]) {
    const budget = new Budget(1e9, 1e12)
    const table = new SlotTable(3, 0, budget, 128)
    const owner = { isOver: () => true, removes: () => {}, ended: () => 0 }
    const add = (key: number): void => {
      const high = Math.imul(key, 0x9e3779b1)
      if (table.find(high, key)) throw new Error('it is there')
      if (!table.hasRoom()) throw new Error('no room')
      budget.keys++
      table.add(high, key)
    }
    let key = 1
    while (key <= keys) add(key++)
    for (let i = 0; i < 2_000; i++) {
      const before = table.count
      table.makeRoom(64, 0, owner)
      expect(table.count).toBeLessThan(before)
      while (table.count < before) add(key++)
    }
  }
})
