import { binding } from './combine.ts'
import { isKnown, type StatedFigures } from './figures.ts'
import type { Outcome } from './outcome.ts'
import { canRefuse } from './role.ts'
import type { Rule } from './rule.ts'
import { delayOf } from './soft-delay.ts'
import type { Step } from './step.ts'

/** One policy's figures, under its name. */
export interface PolicyFigures<Name extends string = string, Remaining extends number | null = number | null>
  extends StatedFigures<Remaining> {
  readonly policy: Name
  /** Seconds of the policy's window, for headers: `limit` units per so much; absent where there is no window. */
  readonly windowSeconds?: number | undefined
  /** Reports only, never refuses. */
  readonly shadow?: true
  /** Over its limit it lowers the priority, and never refuses. */
  readonly deprioritizes?: true
  /** Past its soft threshold. */
  readonly soft?: true
  /** Refuses because the request lacks a part of the key (`onMissingKey: deny`). */
  readonly missingKey?: true
}

/**
 * The answer to one request: the figures are those of the *binding* policy, the one that decided: on a refusal
 * that with the longest wait, else that with the least remaining; ties go to the first. A policy that only lowers the
 * priority binds where none can refuse, and then `remaining` is what is left at normal priority. Durations are in
 * milliseconds and may carry a fraction; they count from the decision. A decision is not changed later.
 */
export interface Decision<Name extends string = string, Remaining extends number | null = number | null>
  extends StatedFigures<Remaining> {
  /** The binding policy's name; `''` when no policy applied, and then `limit` and `remaining` are infinite. */
  readonly policy: Name | ''
  /** Every policy that took part, in rule order. Made when it is first read: JSON has it, a copy by spreading has not. */
  readonly policies: readonly PolicyFigures<Name, Remaining>[]
  /** Made without the store, by the rule's failure policy. Of `open` and `closed` rules `remaining` is null. */
  readonly degraded: boolean
  /** Over a limit that only lowers the priority. */
  readonly priority?: 'low'
}

/**
 * What a request was asked by, and what came of it: for corrections of its charge, and for whatever observes it. It is
 * no part of any answer that leaves the process.
 */
export interface Receipt {
  readonly steps: readonly Step[]
  readonly outcome: Outcome
  /** Admitted, and not only looked at. */
  readonly charged: boolean
  /** The step that decided; `undefined` when all are in shadow mode, or there is none. */
  readonly binding: Step | undefined
  /** What was corrected of each step's charge; absent before the first correction. */
  readonly corrected?: readonly CorrectedCharge[] | undefined
}

/** A step's charge after corrections. */
export interface CorrectedCharge {
  /** What is charged now. */
  readonly cost: number
  /** How much of it can be given back: of what was charged at first, and not of what was charged more later. */
  readonly refundable: number
}

const UNLIMITED: StatedFigures = {
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
  const { allowed, figures, degraded = false } = outcome
  let low = false
  let delayMs = 0
  for (let i = 0; i < steps.length; i++) {
    const { role } = steps[i]!.rule
    if (role === 'deprioritize' && !figures[i]!.allowed) low = true
    if (canRefuse(role)) delayMs = Math.max(delayMs, stepDelay(steps[i]!, figures[i]!, outcome, peek))
  }
  const bound = boundOf(steps, figures, allowed)
  const own = bound < 0 ? UNLIMITED : figures[bound]!
  const name = bound < 0 ? '' : steps[bound]!.rule.name
  const { limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs } = own
  const decision = new DecisionRecord(
    name,
    allowed,
    limit,
    remaining,
    retryAfterMs,
    moreAfterMs,
    resetAfterMs,
    delayMs,
    degraded,
    { steps, outcome, peek, bound },
    undefined,
    '',
    0,
    peek,
    0,
    undefined,
  )
  if (low && allowed) decision.priority = 'low'
  if (own.blocked) decision.blocked = true
  return decision
}

/** The place of the step that decided; −1: none did. */
function boundOf(steps: readonly Step[], figures: readonly StatedFigures[], allowed: boolean): number {
  if (steps.length === 1) return steps[0]!.rule.role === 'shadow' ? -1 : 0
  return steps.every(isRefusing) ? binding(figures, allowed) : boundAmong(steps, figures, allowed)
}

/** Apart, for a function that holds closures makes a context each time it runs. */
function boundAmong(steps: readonly Step[], figures: readonly StatedFigures[], allowed: boolean): number {
  const bound = binding(figures, allowed, (i) => isRefusing(steps[i]!))
  return bound >= 0 ? bound : binding(figures, allowed, (i) => steps[i]!.rule.role === 'deprioritize')
}

function isRefusing({ rule }: Step): boolean {
  return canRefuse(rule.role)
}

/** Without the store a limit that is `open` delays nobody: what is in use is not known. */
function stepDelay({ rule, cost }: Step, own: StatedFigures, outcome: Outcome, peek: boolean): number {
  if (!isKnown(own)) return own.delayMs
  return delayOf(rule, own, cost, outcome.allowed && !peek)
}

/** What a decision was made of, and what was made of it later. */
export interface DecisionParts {
  readonly steps: readonly Step[]
  readonly outcome: Outcome
  readonly peek: boolean
  /** The place of the step that decided; −1: none did. */
  readonly bound: number
  policies?: readonly PolicyFigures[]
  corrected?: readonly CorrectedCharge[] | undefined
}

/** Makes the parts of a decision that was made without them, of what it was asked with. */
export type PartsMaker = (
  decision: Decision,
  rules: readonly Rule[],
  key: string,
  cost: number,
  peek: boolean,
  at: number,
  kept: readonly number[] | undefined,
) => DecisionParts

/**
 * A class with declared fields (see ARCHITECTURE.md, "Shaped for the engine"). It is not extended: V8 makes an object of a
 * derived class in two calls that it does not inline.
 */
export class DecisionRecord implements Decision {
  declare readonly allowed: boolean
  declare readonly policy: string
  declare readonly limit: number
  declare readonly remaining: number | null
  declare readonly retryAfterMs: number | null
  declare readonly moreAfterMs: number | null
  declare readonly resetAfterMs: number | null
  declare readonly delayMs: number
  declare readonly degraded: boolean
  declare priority?: 'low'
  declare blocked?: true
  #parts: DecisionParts | PartsMaker
  readonly #rules: readonly Rule[] | undefined
  readonly #key: string
  readonly #cost: number
  readonly #peek: boolean
  readonly #at: number
  readonly #kept: readonly number[] | undefined

  static {
    // What `console.log` shows. A method with such a name has no declaration that could be written apart.
    const value = DecisionRecord.prototype.toJSON
    Object.defineProperty(DecisionRecord.prototype, Symbol.for('nodejs.util.inspect.custom'), { value })
  }

  /**
   * With the figures of the policy that decided, one by one: an object of them would be one more for each decision.
   * @param parts or what makes them of the parameters that follow
   */
  constructor(
    policy: string,
    allowed: boolean,
    limit: number,
    remaining: number | null,
    retryAfterMs: number | null,
    moreAfterMs: number | null,
    resetAfterMs: number | null,
    delayMs: number,
    degraded: boolean,
    parts: DecisionParts | PartsMaker,
    rules: readonly Rule[] | undefined,
    key: string,
    cost: number,
    peek: boolean,
    at: number,
    kept: readonly number[] | undefined,
  ) {
    this.allowed = allowed
    this.policy = policy
    this.limit = limit
    this.remaining = remaining
    this.retryAfterMs = allowed ? 0 : retryAfterMs
    this.moreAfterMs = moreAfterMs
    this.resetAfterMs = resetAfterMs
    this.delayMs = delayMs
    this.degraded = degraded
    this.#parts = parts
    this.#rules = rules
    this.#key = key
    this.#cost = cost
    this.#peek = peek
    this.#at = at
    this.#kept = kept
  }

  static receiptOf(decision: Decision): Receipt | undefined {
    const parts = DecisionRecord.#partsOf(decision)
    if (parts === undefined) return undefined
    const { steps, outcome, peek, bound, corrected } = parts
    return { steps, outcome, charged: decision.allowed && !peek, binding: steps[bound], corrected }
  }

  static keepCorrected(decision: Decision, corrected: readonly CorrectedCharge[] | undefined): void {
    const parts = DecisionRecord.#partsOf(decision)
    if (parts !== undefined) parts.corrected = corrected
  }

  static decidedAt(decision: Decision): number | undefined {
    return DecisionRecord.#partsOf(decision)?.outcome.at
  }

  static #partsOf(decision: Decision): DecisionParts | undefined {
    if (typeof decision !== 'object' || decision === null || !(#parts in decision)) return undefined
    const parts = decision.#parts
    if (typeof parts !== 'function') return parts
    decision.#parts = parts(
      decision,
      decision.#rules!,
      decision.#key,
      decision.#cost,
      decision.#peek,
      decision.#at,
      decision.#kept,
    )
    return decision.#parts
  }

  get policies(): readonly PolicyFigures[] {
    const parts = DecisionRecord.#partsOf(this)!
    const { steps, outcome, peek } = parts
    parts.policies ??= steps.map((step, i) => {
      const own = outcome.figures[i]!
      return policyFigures(step.rule, own, stepDelay(step, own, outcome, peek))
    })
    return parts.policies
  }

  toJSON(): Decision {
    return { ...this, policies: this.policies }
  }
}

/**
 * The receipt of a decision; `undefined` for what was not decided here, such as a copy.
 * @example
 * receiptOf(limiter.check('ada'))?.steps[0]?.key // 'ada'
 */
export const receiptOf: (decision: Decision) => Receipt | undefined = DecisionRecord.receiptOf

/** Notes what was corrected of a decision's charges, so that nothing is given back twice. */
export const keepCorrected: (decision: Decision, corrected: readonly CorrectedCharge[] | undefined) => void =
  DecisionRecord.keepCorrected

/** The instant of a decision by its store's clock, in microseconds; `undefined` as for {@link receiptOf}. */
export const decidedAt: (decision: Decision) => number | undefined = DecisionRecord.decidedAt

/** Without spreads: whoever watches reads these of each decision. */
function policyFigures(
  { name, windowSeconds, role, soft, missingKey }: Rule,
  own: StatedFigures,
  delayMs: number,
): PolicyFigures {
  const { allowed, limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, blocked } = own
  const figures: { -readonly [Name in keyof PolicyFigures]: PolicyFigures[Name] } = {
    policy: name,
    allowed,
    limit,
    remaining,
    retryAfterMs,
    moreAfterMs,
    resetAfterMs,
    delayMs,
    windowSeconds,
  }
  if (blocked) figures.blocked = true
  if (role === 'shadow') figures.shadow = true
  else if (role === 'deprioritize') figures.deprioritizes = true
  if (missingKey) figures.missingKey = true
  if (soft !== undefined && isKnown(own) && own.limit - own.remaining >= soft * own.limit) figures.soft = true
  return figures
}
