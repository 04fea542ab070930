import type { Step } from '@sluice/limiter/decide'
import type { DescriptorQuery, Domain, Matched, Request, Rules } from '@sluice/limiter/rules'
import type { Study } from '../jobs/study.ts'
import { Decider, type Fate, matchPast, type Questions } from './decider.ts'
import { policyNames } from './policy-names.ts'
import { type PolicyCounts, SimulationTally } from './tally.ts'

/** The rules by which requests of the past are decided. */
export interface RulesOfDomain {
  readonly rules: Rules
  /** One of the rules'. */
  readonly domain: Domain
}

/** Decides every request by one rulebook, and counts. */
export class SimulateStudy implements Study<Matched, PolicyCounts> {
  readonly #questions: Questions
  readonly #decider = new Decider()
  readonly #tally: SimulationTally
  readonly #onFate: ((fate: Fate, at: number) => void) | undefined

  constructor(
    { rules, domain }: RulesOfDomain,
    descriptors?: Questions['descriptors'],
    onFate?: (fate: Fate, at: number) => void,
  ) {
    this.#questions = { rules, domain: domain.name, descriptors }
    this.#tally = new SimulationTally(policyNames(rules.domains.get(domain.name)!, descriptors !== undefined))
    this.#onFate = onFate
  }

  match(
    request: Request,
    cost: number | undefined,
    recorded: readonly DescriptorQuery[] | undefined,
  ): Matched | string {
    return matchPast(this.#questions, request, cost, recorded)
  }

  steps({ steps }: Matched): readonly Step[] {
    return steps
  }

  decide({ steps, missing }: Matched, at: number, duration: number): Fate {
    const fate = this.#decider.decide(steps, at, duration)
    this.#tally.add(fate, missing)
    this.#onFate?.(fate, at)
    return fate
  }

  result(): PolicyCounts {
    return this.#tally.counts
  }
}
