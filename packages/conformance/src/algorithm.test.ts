import { type Algorithm, planOf } from '@sluice/limiter/algorithms'
import { describe, expect, it } from 'vitest'
import type { Formula } from './algorithm/formulas.ts'
import {
  algorithmSuite,
  bucketFormula,
  policiesOf,
  slidingCounterFormula,
  slidingLogFormula,
  stateUnderTest,
} from './algorithm.ts'

/** What the suite's tests throw. */
function complaints(name: 'fixed-window' | 'gcra' | 'sliding-window-counter', formula: Formula): string[] {
  const thrown: string[] = []
  algorithmSuite(
    {
      describe: (_name, body) => body(),
      it(_name, body) {
        try {
          body()
        } catch (error) {
          thrown.push(String((error as Error).cause))
        }
      },
    },
    { name, policies: policiesOf(name), formula, runs: 1_000 },
  )
  return thrown
}

describe('the algorithm suite', () => {
  it('finds out an algorithm that keeps another formula, and tells the walk', () => {
    const [first, ...others] = complaints('fixed-window', slidingLogFormula)
    expect(first).toMatch(
      /\{"algorithm":"fixed-window",.*in units of \d+ µs\n {2}at \d+ cost \d+: \{"allowed":/,
    )
    expect(others).toHaveLength(2)
  })

  it('finds out a rounding the wrong way', () => {
    expect(complaints('sliding-window-counter', slidingCounterFormula('up'))).toHaveLength(3)
  })

  it('finds out more admitted in an interval than was promised', () => {
    const strict: Formula = {
      ...bucketFormula,
      most: (plan, interval) => bucketFormula.most(plan, interval) - 1n,
    }
    expect(complaints('gcra', strict)[0]).toMatch(/were admitted within \d+ units, where \d+ may be/)
  })

  it('finds out what read, answer and decide say otherwise than the functions beside them', () => {
    const plan = planOf({ algorithm: 'gcra', limit: 10, period: '1s' })
    const { read, answer, decide } = plan.algorithm
    const decideBy = (own: Partial<Algorithm>): unknown => {
      const state = stateUnderTest({ ...plan, algorithm: { ...plan.algorithm, ...own } })
      return [4, 6, 9].map((cost) => state.decide(1_000_000, cost, cost).allowed)
    }
    expect(decideBy({})).toEqual([true, true, false])
    const wrong: readonly Partial<Algorithm>[] = [
      { read: undefined },
      { read: (...[own, reading, cost]) => read!(own, reading, cost + 1) },
      {
        read(own, reading, cost) {
          read!(own, reading, cost)
          reading.left--
        },
      },
      { answer: (own, reading, cost) => answer!(own, reading, cost, true) },
      {
        answer(own, reading, cost, charges) {
          answer!(own, reading, cost, charges)
          if (charges) reading.cells[reading.offset + 2]!++
        },
      },
      {
        answer(own, reading, cost, charges) {
          answer!(own, { ...reading }, cost, charges)
        },
      },
      { decide: (own, reading, at, cost, peek) => decide!(own, reading, at, cost, peek, false) },
      {
        decide: (own, reading, at, cost, _peek, isStated) => decide!(own, reading, at, cost, true, isStated),
      },
      { decide: (own, reading, at, cost, peek) => !decide!(own, reading, at, cost, peek, true) },
      {
        decide: (own, reading, at, cost, peek, isStated) =>
          decide!(own, reading, at + 1, cost, peek, isStated),
      },
    ] as readonly Partial<Algorithm>[]
    for (const own of wrong) expect(() => decideBy(own)).toThrow(/read/)
  })
})
