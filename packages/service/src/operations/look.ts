import type { Outcome, Rule, Step } from '@sluice/limiter/decide'

type StepFigures = Outcome['figures'][number]

/**
 * A look that a limit refuses while it is in debt. Looks that cost nothing are always admitted; one unit, of a limit
 * that is one larger, fits exactly as long as no more than the limit is in use. Counters do not depend on the limit.
 */
export class Looks {
  /** The same rule for the same rule, so that what stores remember by it is found again. */
  readonly #rules = new WeakMap<Rule, Rule>()

  step(step: Step): Step {
    const { plan } = step.rule
    let rule = this.#rules.get(step.rule)
    if (rule === undefined) {
      const capacity = Math.min(plan.capacity + 1, Number.MAX_SAFE_INTEGER)
      rule = {
        ...step.rule,
        plan: { ...plan, capacity, ceiling: Math.max(plan.ceiling, capacity) },
        prefetch: undefined,
      }
      this.#rules.set(step.rule, rule)
    }
    return { ...step, rule, cost: 1 }
  }
}

/** What the limit itself says: the larger one has a unit more, used or not; waits are the same. */
function ownFigures(figures: StepFigures, { rule: { plan } }: Step): StepFigures {
  const { remaining } = figures
  return {
    ...figures,
    limit: plan.capacity,
    remaining: remaining === null ? null : Math.max(0, remaining - 1),
  }
}

/** The outcome of steps of which some looked. @param looked whether the step at a place did */
export function ownOutcome(
  outcome: Outcome,
  steps: readonly Step[],
  looked: (place: number) => boolean,
): Outcome {
  const figures = outcome.figures.map((own, i) => (looked(i) ? ownFigures(own, steps[i]!) : own))
  return { ...outcome, figures }
}
