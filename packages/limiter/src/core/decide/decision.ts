import { binding } from './combine.ts'
import type { Figures } from './figures.ts'
import type { Outcome } from './outcome.ts'
import { canRefuse } from './role.ts'
import type { Rule } from './rule.ts'
import type { Step } from './step.ts'

/** One policy's figures, under its name. */
export interface PolicyFigures extends Figures {
  readonly policy: string
  /** Seconds of the policy's window, for headers: `limit` units per so much; absent where there is no window. */
  readonly windowSeconds?: number | undefined
  /** Reports only, never refuses. */
  readonly shadow?: true
  /** Past its soft threshold. */
  readonly soft?: true
}

export const receipt: unique symbol = Symbol('receipt')

/**
 * The answer to one request: the figures are those of the *binding* policy, the one that decided: on a refusal
 * that with the longest wait, else that with the least remaining; ties go to the first. Durations are in
 * milliseconds and may carry a fraction; they count from the decision. Nobody changes a decision later.
 */
export interface Decision extends Figures {
  /** The binding policy's name; `''` when no policy applied, and then `limit` and `remaining` are infinite. */
  readonly policy: string
  /** Every policy that took part, in rule order. Made when it is first read: JSON has it, a copy by spreading has not. */
  readonly policies: readonly PolicyFigures[]
  /** Made without the store, by the rule's failure policy. */
  readonly degraded: boolean
  /** Over a limit that only lowers the priority. */
  readonly priority?: 'low'
  /** For `refund`; not part of any answer that leaves the process. */
  readonly [receipt]?: Receipt | undefined
}

/** What a request was asked by, and what came of it: for corrections of its charge, and for whatever observes it. */
export interface Receipt {
  readonly steps: readonly Step[]
  readonly outcome: Outcome
  /** Admitted, and not only looked at. */
  readonly charged: boolean
  /** The step that decided; `undefined` when none can refuse. */
  readonly binding: Step | undefined
}

const UNLIMITED: Figures = {
  allowed: true,
  limit: Number.POSITIVE_INFINITY,
  remaining: Number.POSITIVE_INFINITY,
  retryAfterMs: 0,
  moreAfterMs: null,
  resetAfterMs: 0,
  delayMs: 0,
}

/**
 * The answer to a request from what the store says of its steps. Every request runs through this: no copies and no
 * spreads, which would cost more than the decision itself. The store's figures are only read.
 * @example
 * const decision = decisionOf(steps, await store.decide(steps, false), false)
 */
export function decisionOf(steps: readonly Step[], outcome: Outcome, peek: boolean): Decision {
  const { allowed, figures } = outcome
  if (steps.length === 1) {
    const { role } = steps[0]!.rule
    const own = figures[0]!
    const bound = canRefuse(role) ? 0 : -1
    const low = allowed && !own.allowed && role === 'deprioritize'
    return new DecisionRecord(steps, outcome, peek, bound, bound < 0 ? 0 : own.delayMs, low)
  }
  let low = false
  let delayMs = 0
  for (let i = 0; i < steps.length; i++) {
    const { role } = steps[i]!.rule
    if (role === 'deprioritize' && !figures[i]!.allowed) low = true
    if (canRefuse(role) && figures[i]!.delayMs > delayMs) delayMs = figures[i]!.delayMs
  }
  const bound = binding(figures, allowed, (i) => canRefuse(steps[i]!.rule.role))
  return new DecisionRecord(steps, outcome, peek, bound, delayMs, low && allowed)
}

/** A class with declared fields (see ARCHITECTURE.md, "Shaped for the engine"). */
class DecisionRecord implements Decision {
  declare readonly allowed: boolean
  declare readonly policy: string
  declare readonly limit: number
  declare readonly remaining: number
  declare readonly retryAfterMs: number | null
  declare readonly moreAfterMs: number | null
  declare readonly resetAfterMs: number | null
  declare readonly delayMs: number
  declare readonly degraded: boolean
  declare readonly priority?: 'low'
  declare readonly blocked?: true
  declare readonly [receipt]: Receipt
  #policies: readonly PolicyFigures[] | undefined

  constructor(
    steps: readonly Step[],
    outcome: Outcome,
    peek: boolean,
    bound: number,
    delayMs: number,
    low: boolean,
  ) {
    const { allowed, figures, degraded = false } = outcome
    const step = bound < 0 ? undefined : steps[bound]!
    const own = bound < 0 ? UNLIMITED : figures[bound]!
    this.allowed = allowed
    this.policy = step === undefined ? '' : step.rule.name
    this.limit = own.limit
    this.remaining = own.remaining
    this.retryAfterMs = allowed ? 0 : own.retryAfterMs
    this.moreAfterMs = own.moreAfterMs
    this.resetAfterMs = own.resetAfterMs
    this.delayMs = delayMs
    this.degraded = degraded
    this[receipt] = { steps, outcome, charged: allowed && !peek, binding: step }
    if (low) this.priority = 'low'
    if (own.blocked) this.blocked = true
  }

  get policies(): readonly PolicyFigures[] {
    if (this.#policies === undefined) {
      const { steps, outcome } = this[receipt]
      this.#policies = steps.map(({ rule }, i) => policyFigures(rule, outcome.figures[i]!))
    }
    return this.#policies
  }

  toJSON(): Decision {
    return { ...this, policies: this.policies }
  }

  /** What `console.log` shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): Decision {
    return this.toJSON()
  }
}

function policyFigures({ name, windowSeconds, role, soft }: Rule, own: Figures): PolicyFigures {
  return {
    policy: name,
    ...own,
    windowSeconds,
    ...(canRefuse(role) ? undefined : { shadow: true }),
    ...(soft !== undefined && own.limit - own.remaining >= soft * own.limit ? { soft: true } : undefined),
  }
}
