import { binding } from './combine.ts'
import type { Figures } from './figures.ts'
import type { Outcome } from './outcome.ts'
import type { Step } from './step.ts'

/** One policy's figures, under its name. */
export interface PolicyFigures extends Figures {
  readonly policy: string
  /** Seconds of the policy's window, for headers: `capacity` units per so much; absent where there is no window. */
  readonly windowSeconds?: number | undefined
  /** Reports only, never enforces. */
  readonly shadow?: true
  /** Past its soft threshold. */
  readonly soft?: true
  /** Refused outright for a time, after too many refusals or by hand. */
  readonly blocked?: true
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
  /** Every policy that took part, in rule order. */
  readonly policies: readonly PolicyFigures[]
  /** Made without the store, by the rule's failure policy. */
  readonly degraded: boolean
  /** Over a limit that only asks to be served last. */
  readonly priority?: 'low'
  /** For `refund`; not part of any answer that leaves the process. */
  readonly [receipt]?: Receipt | undefined
}

/** What a request leaves behind for whoever may have to correct its charge. */
export interface Receipt {
  readonly steps: readonly Step[]
  readonly outcome: Outcome
  /** Admitted, and not only looked at. */
  readonly charged: boolean
}

/** What a decision needs to know of the policy behind a step. */
export interface Subject {
  /** The name that clients see. */
  readonly name: string
  readonly windowSeconds?: number
  /** Share of the limit in use, 0–1, from which decisions are marked soft. */
  readonly soft?: number
  /** Being over this limit only lowers the priority. */
  readonly deprioritize?: boolean
}

const UNLIMITED: PolicyFigures = {
  policy: '',
  allowed: true,
  limit: Number.POSITIVE_INFINITY,
  remaining: Number.POSITIVE_INFINITY,
  retryAfterMs: 0,
  moreAfterMs: null,
  resetAfterMs: 0,
  delayMs: 0,
}

/** What is being put together; finished, nobody changes it. */
type Draft<T> = { -readonly [K in keyof T]: T[K] }

/**
 * The answer to a request from what the store says of its steps. `subjects` stand beside `steps`, a guard's too.
 * What is here runs for every request: no copies and no spreads, which would cost more than the decision itself.
 */
export function decisionOf(
  steps: readonly Step[],
  subjects: readonly Subject[],
  outcome: Outcome,
  peek: boolean,
): Decision {
  if (steps.length === 1) return decisionOfOne(steps, subjects[0]!, outcome, peek)
  const { allowed, figures } = outcome
  let low = false
  let delayMs = 0
  let guarded = false
  for (let i = 0; i < steps.length; i++) {
    const { role } = steps[i]!
    if (role === 'guard') {
      guarded = true
      continue
    }
    const own = named(figures[i]!, subjects[i]!, role)
    if (subjects[i]!.deprioritize === true && !own.allowed) low = true
    if (role !== 'shadow' && own.delayMs > delayMs) delayMs = own.delayMs
  }
  const policies = guarded ? underGuards(steps, figures) : (figures as readonly PolicyFigures[])
  const bound = policies[binding(policies, allowed, (i) => policies[i]!.shadow !== true)] ?? UNLIMITED
  const decision = new Made(bound, delayMs, policies, steps, outcome, peek)
  if (low && allowed) decision.priority = 'low'
  return decision
}

/** The same for what most requests meet: one policy, without a guard. */
function decisionOfOne(steps: readonly Step[], subject: Subject, outcome: Outcome, peek: boolean): Decision {
  const { allowed, figures } = outcome
  const { role } = steps[0]!
  const own = named(figures[0]!, subject, role)
  const bound = role === 'shadow' ? UNLIMITED : own
  const decision = new Made(bound, bound.delayMs, figures as PolicyFigures[], steps, outcome, peek)
  if (subject.deprioritize === true && allowed && !own.allowed) decision.priority = 'low'
  return decision
}

/** A class, so that the symbol has its place from the start; in a literal it would be looked up each time. */
class Made implements Decision {
  declare readonly allowed: boolean
  declare readonly policy: string
  declare readonly limit: number
  declare readonly remaining: number
  declare readonly retryAfterMs: number | null
  declare readonly moreAfterMs: number | null
  declare readonly resetAfterMs: number | null
  declare readonly delayMs: number
  declare readonly policies: readonly PolicyFigures[]
  declare readonly degraded: boolean
  declare priority?: 'low'
  declare readonly [receipt]: Receipt

  constructor(
    bound: PolicyFigures,
    delayMs: number,
    policies: readonly PolicyFigures[],
    steps: readonly Step[],
    outcome: Outcome,
    peek: boolean,
  ) {
    const { allowed, degraded = false } = outcome
    this.allowed = allowed
    this.policy = bound.policy
    this.limit = bound.limit
    this.remaining = bound.remaining
    this.retryAfterMs = allowed ? 0 : bound.retryAfterMs
    this.moreAfterMs = bound.moreAfterMs
    this.resetAfterMs = bound.resetAfterMs
    this.delayMs = delayMs
    this.policies = policies
    this.degraded = degraded
    this[receipt] = { steps, outcome, charged: allowed && !peek }
  }
}

/** The policies without their guards; where one refuses, under its block. */
function underGuards(steps: readonly Step[], figures: readonly Figures[]): PolicyFigures[] {
  const policies: PolicyFigures[] = []
  for (let i = 0; i < steps.length; i++) {
    if (steps[i]!.role !== 'guard') policies.push(figures[i] as PolicyFigures)
    else if (!figures[i]!.allowed) policies[policies.length - 1] = underBlock(policies.at(-1)!, figures[i]!)
  }
  return policies
}

/** A store's figures under the policy's name: in place, for nobody else has them. */
function named(own: Figures, { name, windowSeconds, soft }: Subject, role: Step['role']): PolicyFigures {
  const figures = own as Draft<PolicyFigures>
  figures.policy = name
  figures.windowSeconds = windowSeconds
  if (role === 'shadow') figures.shadow = true
  if (soft !== undefined && own.limit - own.remaining >= soft * own.limit) figures.soft = true
  return figures
}

/** A policy's figures while its guard refuses: nothing is left, and no wait is shorter than the guard's. */
function underBlock(own: PolicyFigures, guard: Figures): PolicyFigures {
  const wait = guard.retryAfterMs ?? 0
  return {
    ...own,
    allowed: false,
    remaining: 0,
    retryAfterMs: own.allowed ? wait : own.retryAfterMs === null ? null : Math.max(own.retryAfterMs, wait),
    moreAfterMs: own.remaining > 0 ? wait : Math.max(own.moreAfterMs ?? 0, wait),
    resetAfterMs: own.resetAfterMs === null ? null : Math.max(own.resetAfterMs, wait),
    blocked: true,
  }
}
