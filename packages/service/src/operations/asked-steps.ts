import { holdsSlots, type Rule, type Step } from '@sluice/limiter/decide'
import type { DescriptorQuery, MatchedDescriptors, MatchedLimit } from '@sluice/limiter/rules'

/** One descriptor of a request. */
export interface AskedDescriptor extends DescriptorQuery {
  /** Gives the cost back, in place of charging it. */
  readonly refund?: boolean
}

/** A counter that a request asks about: descriptors that name the same one are one. */
export interface AskedStep {
  /** The cost is the sum of what is to be charged. */
  step: Step
  /** Asked with a cost of 0. */
  looks: boolean
  /** Units to be given back. */
  refund: number
  /** Charged by descriptors with a cost of their own. */
  own: number
}

interface AskedStatus {
  /** Absent where no limit matched, or another replaces it. */
  readonly limit?: MatchedLimit | undefined
  /** Where among the steps; −1 where nothing is counted. */
  readonly place: number
  readonly cost: number
  readonly refund: boolean
}

export interface AskedSteps {
  readonly steps: readonly AskedStep[]
  readonly statuses: readonly AskedStatus[]
}

/** What the service does with every limit of descriptors, whatever the rulebook says. */
export interface DescriptorModes {
  /** Refuses nothing: all limits report alone. */
  readonly shadow?: boolean
  /** Makes every limit a quota, which refuses only when every other of the request does. */
  readonly quota?: boolean
}

/** Rules in a role that is not their own: one for each, since stores remember by them. */
export class RoleRules {
  readonly #role: Rule['role'] | undefined
  readonly #rules = new WeakMap<Rule, Rule>()

  constructor({ shadow, quota }: DescriptorModes) {
    this.#role = shadow ? 'shadow' : quota ? 'quota' : undefined
  }

  step(step: Step): Step {
    const { role } = step.rule
    if (this.#role === undefined || (role !== 'enforce' && role !== 'quota')) return step
    let rule = this.#rules.get(step.rule)
    if (rule === undefined) {
      rule = { ...step.rule, role: this.#role, block: undefined }
      this.#rules.set(step.rule, rule)
    }
    return { ...step, rule }
  }
}

/** @param cost of descriptors without one of their own */
export function askedSteps(
  descriptors: readonly AskedDescriptor[],
  cost: number,
  { steps: matched, statuses }: MatchedDescriptors,
  roles: RoleRules,
): AskedSteps {
  const steps: AskedStep[] = []
  const asked = statuses.map(({ step: at, limit }, i): AskedStatus => {
    const { cost: own, refund = false } = descriptors[i]!
    const units = own ?? cost
    if (at < 0) return { limit, place: -1, cost: units, refund }
    const step = roles.step(matched[at]!)
    const charged = refund ? 0 : units
    let place = steps.length === 0 ? -1 : steps.findIndex((other) => isSameState(other.step, step))
    if (place < 0) {
      const held = holdsSlots(step) ? { chargeId: newChargeId() } : undefined
      const own = held === undefined && step.cost === charged ? step : { ...step, ...held, cost: charged }
      place = steps.push({ step: own, looks: false, refund: 0, own: 0 }) - 1
    } else {
      const { step: before } = steps[place]!
      steps[place]!.step = { ...before, cost: Math.min(Number.MAX_SAFE_INTEGER, before.cost + charged) }
    }
    const group = steps[place]!
    group.looks ||= !refund && units === 0
    group.refund += refund ? units : 0
    group.own += own === undefined ? 0 : charged
    return { limit, place, cost: units, refund }
  })
  return { steps, statuses: asked }
}

function isSameState({ rule: a, key }: Step, { rule: b, key: other }: Step): boolean {
  return key === other && a.namespace === b.namespace && a.plan.kind === b.plan.kind && a.role === b.role
}

function newChargeId(): number {
  return 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1))
}
