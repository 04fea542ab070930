import type { Reading, StatePlan, Waits } from './algorithm.ts'
import { type Decision, type DecisionParts, DecisionRecord } from './decision.ts'
import {
  chargeInstant,
  type Figures,
  figuresFrom,
  inMs,
  inUnits,
  newFigures,
  type StatedReading,
} from './figures.ts'
import type { Rule } from './rule.ts'
import type { Step } from './step.ts'

/** A state that a request was answered from, and the waits. */
type AnsweredState = Readonly<Reading & Waits>

/** Numbers that are kept of each of several answers: left, retry, more, reset, delay, ticks. */
const KEPT = 6

/**
 * Makes decisions of requests that have one key and one cost for all rules, which are enforced or in shadow mode: the
 * same as `decisionOf` makes them of steps and outcome, to which limiter.plain.test.ts compares them. Steps, outcome
 * and figures by rule are made when they are asked for: that saves most of what a decision allocates.
 */
export class ShortDecisions {
  /** Those of the rule that decided. Written over by each decision, as are the numbers. */
  readonly #own = newFigures()
  #kept: number[] = []

  /** Of one rule, which is enforced. @param at as below */
  ofOne(
    rules: readonly Rule[],
    answer: AnsweredState,
    key: string,
    cost: number,
    peek: boolean,
    at: number,
  ): Decision {
    const { plan } = rules[0]!
    const own = this.#figuresOf(plan, answer)
    const instant = chargeInstant(plan, answer)
    return new ShortDecision(rules, 0, own, own.allowed, own.delayMs, key, cost, peek, at, instant, undefined)
  }

  /**
   * Of several rules.
   * @param answers one for each rule, or more
   * @param at the store's clock, in microseconds
   */
  ofSeveral(
    rules: readonly Rule[],
    answers: readonly AnsweredState[],
    key: string,
    cost: number,
    allowed: boolean,
    peek: boolean,
    at: number,
  ): Decision {
    const bound = boundOf(rules, answers, allowed)
    const own = this.#figuresOf(rules[bound]!.plan, answers[bound]!)
    const delayMs = longestDelay(rules, answers)
    const kept = this.#keep(answers, rules.length)
    return new ShortDecision(rules, bound, own, allowed, delayMs, key, cost, peek, at, at, kept)
  }

  #figuresOf(plan: StatePlan, answer: AnsweredState): Figures {
    return figuresFrom(plan, answer, answer.retry, answer.more, answer.reset, this.#own)
  }

  /** A copy of an array that always holds fractional numbers is quicker than an array that grows. */
  #keep(answers: readonly AnsweredState[], count: number): readonly number[] {
    if (this.#kept.length !== count * KEPT) {
      this.#kept = []
      for (let i = 0; i < count * KEPT; i++) this.#kept.push(0.5)
    }
    const kept = this.#kept
    for (let i = 0, n = 0; i < count; i++, n += KEPT) {
      const { left, retry, more, reset, delay, ticks } = answers[i]!
      kept[n] = left
      kept[n + 1] = retry
      kept[n + 2] = more
      kept[n + 3] = reset
      kept[n + 4] = delay
      kept[n + 5] = ticks
    }
    return kept.slice()
  }
}

/** As `binding` of combine.ts: the longest wait of those that refuse, else the least remaining; ties go to the first. */
function boundOf(rules: readonly Rule[], answers: readonly AnsweredState[], allowed: boolean): number {
  let bound = -1
  let most = 0
  for (let i = 0; i < rules.length; i++) {
    const { plan, role } = rules[i]!
    const answer = answers[i]!
    if (role !== 'enforce' || (!allowed && answer.allowed)) continue
    const { unit } = plan
    const weight = allowed
      ? -Math.max(answer.left, 0)
      : (inMs(answer.retry, unit, intoUnit(answer, unit)) ?? Number.POSITIVE_INFINITY)
    if (bound >= 0 && weight <= most) continue
    bound = i
    most = weight
  }
  return bound
}

function intoUnit({ ticks, now }: AnsweredState, unit: number): number {
  return unit === 1 ? 0 : ticks - now * unit
}

/** In milliseconds, of the rules that can refuse. */
function longestDelay(rules: readonly Rule[], answers: readonly AnsweredState[]): number {
  let longest = 0
  for (let i = 0; i < rules.length; i++) {
    const { plan, role } = rules[i]!
    const answer = answers[i]!
    if (answer.delay === 0 || role !== 'enforce') continue
    longest = Math.max(longest, inMs(answer.delay, plan.unit, intoUnit(answer, plan.unit)) ?? 0)
  }
  return longest
}

/** A class with declared fields (see ARCHITECTURE.md, "Shaped for the engine"). */
class ShortDecision extends DecisionRecord {
  readonly #rules: readonly Rule[]
  readonly #bound: number
  readonly #key: string
  readonly #cost: number
  readonly #peek: boolean
  readonly #at: number
  readonly #instant: number
  readonly #kept: readonly number[] | undefined

  /**
   * @param instant of the charge by one rule, in microseconds
   * @param kept what is known of several
   */
  constructor(
    rules: readonly Rule[],
    bound: number,
    own: Figures,
    allowed: boolean,
    delayMs: number,
    key: string,
    cost: number,
    peek: boolean,
    at: number,
    instant: number,
    kept: readonly number[] | undefined,
  ) {
    super(rules[bound]!.name, own, allowed, delayMs, false, undefined)
    this.#rules = rules
    this.#bound = bound
    this.#key = key
    this.#cost = cost
    this.#peek = peek
    this.#at = at
    this.#instant = instant
    this.#kept = kept
  }

  /** Without closures and spreads: whoever states every policy in headers asks for this with each request. */
  protected override makeParts(): DecisionParts {
    const rules = this.#rules
    const at = this.#at
    const steps: Step[] = new Array(rules.length)
    const figures: Figures[] = new Array(rules.length)
    let instants: number[] | undefined
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i]!
      steps[i] = { rule, key: this.#key, cost: this.#cost }
      let instant = this.#instant
      if (this.#kept === undefined) figures[i] = figuresIn(this as Figures)
      else {
        const answer = answerIn(this.#kept, i * KEPT, rule.plan)
        instant = chargeInstant(rule.plan, answer)
        figures[i] = figuresFrom(rule.plan, answer, answer.retry, answer.more, answer.reset)
      }
      if (instant === at) continue
      instants ??= new Array(rules.length).fill(at)
      instants[i] = instant
    }
    const { allowed } = this
    const outcome = instants === undefined ? { allowed, at, figures } : { allowed, at, figures, instants }
    return { steps, outcome, peek: this.#peek, bound: this.#bound }
  }
}

function figuresIn(own: Figures): Figures {
  const { allowed, limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, delayMs } = own
  return { allowed, limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, delayMs }
}

function answerIn(kept: readonly number[], from: number, plan: StatePlan): StatedReading & Waits {
  const retry = kept[from + 1]!
  const ticks = kept[from + 5]!
  return {
    left: kept[from]!,
    allowed: retry === 0,
    delay: kept[from + 4]!,
    ticks,
    now: inUnits(plan, ticks),
    retry,
    more: kept[from + 2]!,
    reset: kept[from + 3]!,
  }
}
