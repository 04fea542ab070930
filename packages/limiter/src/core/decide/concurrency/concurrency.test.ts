import { algorithmSuite, concurrencyFormula, policiesOf, stateUnderTest } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planOf } from '../algorithms.ts'

algorithmSuite(
  { describe, it },
  { name: 'concurrency', policies: policiesOf('concurrency'), formula: concurrencyFormula },
)

const plan = planOf({ algorithm: 'concurrency', limit: 3, period: '10s' })

describe('concurrency', () => {
  it('admits up to the limit at once, and again as soon as a slot is given back', () => {
    const state = stateUnderTest(plan)
    expect([1, 2, 3, 4].map((chargeId) => state.decide(0, 1, chargeId).remaining)).toEqual([2, 1, 0, 0])
    expect(state.decide(1_000_000, 1, 4)).toMatchObject({ allowed: false, retryAfterMs: 9_000 })
    state.settle(1_000_000, -1, 0, 2)
    expect(state.decide(1_000_000, 1, 4)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('gives a slot back once, and nothing for one that it never gave (FB-042)', () => {
    const state = stateUnderTest(plan)
    for (const chargeId of [1, 2, 3]) state.decide(0, 1, chargeId)
    for (const chargeId of [2, 2, 2, 99]) state.settle(0, -1, 0, chargeId)
    expect(state.decide(0, 0, 4).remaining).toBe(1)
  })

  it('ends a slot whose holder is gone when its time to live is over', () => {
    const state = stateUnderTest(plan)
    state.decide(0, 1, 1)
    state.decide(4_000_000, 2, 2)
    expect(state.decide(9_999_999, 1, 3)).toMatchObject({ allowed: false, retryAfterMs: 0.001 })
    expect(state.decide(10_000_000, 1, 3)).toMatchObject({ allowed: true, remaining: 0 })
    state.settle(10_000_000, -1, 0, 1)
    expect(state.decide(10_000_000, 0, 4)).toMatchObject({ remaining: 0, moreAfterMs: 4_000 })
  })

  it('waits for as many slots as a heavy request needs', () => {
    const state = stateUnderTest(plan)
    for (const [chargeId, at] of [
      [1, 0],
      [2, 1],
      [3, 2],
    ] as const)
      state.decide(at * 1_000_000, 1, chargeId)
    const waits = [1, 2, 3, 4].map((cost) => state.decide(2_000_000, cost, 9).retryAfterMs)
    expect(waits).toEqual([8_000, 9_000, 10_000, null])
  })

  it('agrees with counting, whichever of many slots end first', () => {
    const many = planOf({ algorithm: 'concurrency', limit: 2_000, period: '1s' })
    const dice = fc.array(fc.tuple(fc.nat(3_000), fc.integer({ min: 1, max: 5 }), fc.nat()), {
      minLength: 500,
      maxLength: 1_000,
      size: 'max',
    })
    fc.assert(
      fc.property(dice, (throws) => {
        const state = stateUnderTest(many)
        let slots: { id: number; at: number; units: number }[] = []
        let at = 0
        for (const [id, [later, units, some]] of throws.entries()) {
          at += later
          slots = slots.filter((slot) => at - slot.at < 1_000_000)
          if (state.decide(at, units, id + 1).allowed) slots.push({ id: id + 1, at, units })
          const [ended] = some % 2 === 0 ? slots.splice(some % slots.length, 1) : []
          if (ended !== undefined) state.settle(at, -ended.units, ended.at, ended.id)
          const held = slots.reduce((sum, own) => sum + own.units, 0)
          expect(state.decide(at, 0, 0).remaining).toBe(2_000 - held)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('keeps no room for slots that came and went behind one that stays', () => {
    const state = stateUnderTest(plan)
    state.decide(0, 1, 1)
    for (let chargeId = 2; chargeId < 1_000; chargeId++) {
      expect(state.decide(chargeId, 2, chargeId).allowed).toBe(true)
      state.settle(chargeId, -2, chargeId, chargeId)
    }
    expect(state.cells.length).toBeLessThan(24)
  })
})
