import type { Decision, PolicyFigures } from '../core/decide/decision.ts'
import { canRefuse } from '../core/decide/role.ts'
import { holdsSlots, type Step } from '../core/decide/step.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'

/** What is known of a wait. */
export interface Foreseen {
  /** Milliseconds, at least; infinite where a limit is 0. */
  readonly waitMs: number
  /** What the store says of the units that decide it. */
  readonly decision: Decision
}

/**
 * How long it takes at least until so many units are through, if nothing else arrives. What is above a policy's
 * capacity needs as many whole windows (for buckets: fills) as it fills. Slots, which end when they are released, are
 * not counted.
 * @param units for each step; whole
 * @param look asks the store without charging
 * @example
 * const { waitMs } = await foresee(steps, [10_000], (steps) => engine.decide('api', steps, true))
 */
export function foresee(
  steps: readonly Step[],
  units: readonly number[],
  look: (steps: readonly Step[]) => MaybePromise<Decision>,
): MaybePromise<Foreseen> {
  const needs = steps.map((step, i) => {
    const { capacity } = step.rule.plan
    if (holdsSlots(step) || !canRefuse(step.rule.role)) return NOTHING
    if (capacity === 0) return units[i]! > 0 ? { units: 1, windows: 0 } : NOTHING
    const windows = Math.max(0, Math.ceil(units[i]! / capacity) - 1)
    return { units: units[i]! - windows * capacity, windows }
  })
  const asked = steps.map((step, i) => ({ ...step, cost: needs[i]!.units }))
  return andThen(look(asked), (decision) => ({
    decision,
    waitMs: Math.max(0, ...decision.policies.map((own, i) => waitFor(own, needs[i] ?? NOTHING))),
  }))
}

interface Need {
  readonly units: number
  readonly windows: number
}

const NOTHING: Need = { units: 0, windows: 0 }

function waitFor(
  { allowed, retryAfterMs, resetAfterMs, windowSeconds = 0 }: PolicyFigures,
  { units, windows }: Need,
): number {
  if (units === 0) return 0
  const windowMs = windowSeconds * 1_000
  if (!allowed) return (retryAfterMs ?? Number.POSITIVE_INFINITY) + windows * windowMs
  return windows === 0 ? 0 : (resetAfterMs ?? 0) + (windows - 1) * windowMs
}
