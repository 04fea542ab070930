import { variantsOf } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import type { StatedFigures } from '../../core/decide/figures.ts'
import { FakeClock, stepFor } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import type { Step } from '../store.ts'
import { MapStore } from '../trials/map-store.test-support.ts'
import { dice } from './dice.test-support.ts'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
/** So many times the walk. */
const RUNS = Number(process.env.SLUICE_RUNS ?? 1)

describe(`the store in memory, through several sizes of its tables (SLUICE_SEED=${SEED})`, () => {
  it.each(variantsOf().map(({ name, policy }) => [name, policy] as const))(
    'loses no counter, and answers as a Map that deletes nothing: %s',
    (_, policy) => {
      for (let run = 0; run < RUNS; run++) {
        const roll = dice(SEED + run)
        const clock = new FakeClock()
        const memory = new MemoryStore({ clock })
        const map = new MapStore(clock)
        const plan = planOf({ ...policy, limit: 4, period: '2s' })
        /** The same counters under a changed limit, and in a coarser unit of time where there is one. */
        const other = planOf({ ...policy, limit: 1_000_000_000_000, period: '2s' })
        const step = stepFor(plan)
        const changed = stepFor(other)
        let next = 0
        let wrong = 0
        const same = (a: StatedFigures, b: StatedFigures): boolean =>
          a.allowed === b.allowed &&
          a.remaining === b.remaining &&
          a.retryAfterMs === b.retryAfterMs &&
          a.moreAfterMs === b.moreAfterMs &&
          a.resetAfterMs === b.resetAfterMs
        const decide = (asked: Step, peek = false): void => {
          const ours = memory.decide([asked], peek)
          const theirs = map.decide([asked], peek)
          if (ours.allowed !== theirs.allowed || !same(ours.figures[0]!, theirs.figures[0]!)) wrong++
        }
        const stepOf = (key: number, cost: number): Step => ({
          ...step,
          key: `key ${key}`,
          cost,
          chargeId: key + 1,
        })
        const known = (): number => (next === 0 ? 0 : roll(next))
        for (let round = 0; round < 8; round++) {
          for (let i = 0; i < 2_500; i++) {
            decide(stepOf(next++, 1 + roll(3)))
            const does = roll(40)
            if (does < 14) decide(stepOf(known(), 1 + roll(4)))
            else if (does === 14) decide(stepOf(known(), 1), true)
            else if (does === 15) {
              const charges = [
                { step: stepOf(known(), 1), at: clock.now() - roll(3_000_000), change: roll(5) - 2 },
              ]
              for (const store of [memory, map]) store.settle(charges)
            } else if (does === 16) {
              const name = stepOf(known(), 1)
              for (const store of [memory, map]) store.reset(name)
            } else if (does === 17 && round > 3)
              decide({ ...changed, key: `key ${known()}`, cost: 1 + roll(9), chargeId: i + 1 })
            else if (does === 18) clock.advance(roll(400))
          }
          expect(wrong).toBe(0)
          if (round === 2 || round === 5) {
            clock.advance(10_000)
            for (let i = 0; i < 3_000; i++) decide(stepOf(roll(50), 1)) // those that expired are swept meanwhile
          }
        }
        clock.advance(10_000)
        for (let key = 0; key < next; key += 7) decide(stepOf(key, 1))
        expect(wrong).toBe(0)
        memory.close()
        expect([memory.size, memory.bytes]).toEqual([0, 0])
      }
    },
  )

  it('counts each key exactly when new keys and those that come back take turns at its cap', () => {
    const clock = new FakeClock()
    const memory = new MemoryStore({ clock, maxKeys: 9_000 })
    const step = stepFor(planOf({ algorithm: 'fixed-window', limit: 3, period: '1d' }))
    let admitted = 0
    for (let i = 0; i < 20_000; i++)
      if (memory.decide([{ ...step, key: `key ${i % 9_000}` }], false).allowed) admitted++
    expect([admitted, memory.size, memory.sharedCharges]).toEqual([20_000, 9_000, 0])
    for (let i = 0; i < 20_000; i++) memory.decide([{ ...step, key: `late ${i}` }], false)
    expect(memory.size).toBe(9_000)
    let more = 0
    for (let i = 0; i < 40_000; i++)
      if (memory.decide([{ ...step, key: `key ${i % 9_000}` }], false).allowed) more++
    expect(admitted + more).toBe(3 * 9_000)
    memory.close()
  })
})
