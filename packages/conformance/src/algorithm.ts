import type { Policy } from '@sluice/limiter'
import fc from 'fast-check'
import type { Formula } from './algorithm/formulas.ts'
import { accepted } from './algorithm/policies.ts'
import { walk } from './algorithm/walk.ts'
import type { Runner } from './runner.ts'

export {
  bucketFormula,
  concurrencyFormula,
  type Formula,
  fixedWindowFormula,
  formulaOf,
  gcraFormula,
  intervalFormula,
  type Oracle,
  slidingCounterFormula,
  slidingLogFormula,
} from './algorithm/formulas.ts'
export { policiesOf } from './algorithm/policies.ts'
export { type StateUnderTest, stateUnderTest } from './algorithm/subject.ts'
export { replay, workedExample } from './algorithm/worked-example.ts'

export interface AlgorithmUnderTest {
  readonly name: string
  readonly policies: fc.Arbitrary<Policy>
  readonly formula: Formula
  /** Walks for each property. Default: `SLUICE_RUNS`, or 4,000. */
  readonly runs?: number
}

const DICE = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 1, maxLength: 8, size: 'max' })

/**
 * Holds an algorithm to the five laws, and to its own formula's definition, on random policies and random traffic:
 * at, and one tick before, each wait that it announces, at window edges, after ten idle years, with a clock that
 * steps back, up to the largest numbers that it accepts.
 *
 * `SLUICE_SEED` replays the walks of an earlier run.
 * @example
 * const subject = { name: 'gcra', policies: policiesOf('gcra'), formula: gcraFormula }
 * algorithmSuite({ describe, it }, subject) // of vitest, or of node:test
 */
export function algorithmSuite({ describe, it }: Runner, tested: AlgorithmUnderTest): void {
  const { name, policies, formula, runs: numRuns = Number(process.env.SLUICE_RUNS ?? 4_000) } = tested
  const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
  const holds = (title: string, corrects: boolean, drops: boolean): void => {
    const property = fc.property(policies, DICE, (policy, dice) => {
      fc.pre(accepted(policy))
      walk(policy, formula, dice, { corrects, drops })
    })
    it(title, () => fc.assert(property, { numRuns, seed }), 600_000)
  }
  describe(`${name}, as any algorithm (SLUICE_SEED=${seed})`, () => {
    holds('keeps the five laws, and its bound over any interval', false, false)
    holds('keeps the laws when charges are corrected', true, false)
    holds('keeps the laws when its state is dropped as soon as may be', true, true)
  })
}
