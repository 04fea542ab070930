import { describe, expect, it } from 'vitest'
import type { Formula } from './algorithm/formulas.ts'
import {
  algorithmSuite,
  bucketFormula,
  policiesOf,
  slidingCounterFormula,
  slidingLogFormula,
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
})
