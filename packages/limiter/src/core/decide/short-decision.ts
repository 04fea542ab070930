import type { Reading, StatePlan, Waits } from './algorithm.ts'
import { type Decision, DecisionRecord, type PartsMaker } from './decision.ts'
import {
  chargeInstant,
  type Figures,
  figuresFrom,
  inMs,
  intoUnit,
  inUnits,
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
  /** Written over by each decision. */
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
    const isNow = answer.delay === 0 && answer.ticks === at
    const kept = isNow ? undefined : this.#keep([answer], 1)
    const delayMs = answer.delay === 0 ? 0 : delayOf(plan, answer)
    return recordOf(rules, 0, answer, answer.allowed, delayMs, key, cost, peek, at, kept)
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
    const delayMs = longestDelay(rules, answers)
    const kept = this.#keep(answers, rules.length)
    return recordOf(rules, bound, answers[bound]!, allowed, delayMs, key, cost, peek, at, kept)
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

/** @param kept numbers of each answer; `undefined`: there is one, and it is of `at` and without delay */
function recordOf(
  rules: readonly Rule[],
  bound: number,
  answer: AnsweredState,
  allowed: boolean,
  delayMs: number,
  key: string,
  cost: number,
  peek: boolean,
  at: number,
  kept: readonly number[] | undefined,
): Decision {
  const { name, plan } = rules[bound]!
  const { unit, capacity } = plan
  const { left, retry, more, reset } = answer
  const into = intoUnit(answer, unit)
  return new DecisionRecord(
    name,
    allowed,
    capacity,
    Math.max(left, 0),
    inMs(retry, unit, into),
    inMs(more, unit, into),
    inMs(reset, unit, into),
    delayMs,
    false,
    partsOf,
    rules,
    key,
    cost,
    peek,
    at,
    kept,
  )
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

/** In milliseconds, of the rules that can refuse. */
function longestDelay(rules: readonly Rule[], answers: readonly AnsweredState[]): number {
  let longest = 0
  for (let i = 0; i < rules.length; i++) {
    const { plan, role } = rules[i]!
    const answer = answers[i]!
    if (answer.delay === 0 || role !== 'enforce') continue
    longest = Math.max(longest, delayOf(plan, answer))
  }
  return longest
}

function delayOf({ unit }: StatePlan, answer: AnsweredState): number {
  return inMs(answer.delay, unit, intoUnit(answer, unit)) ?? 0
}

/** Without closures and spreads: whoever states every policy in headers asks for this with each request. */
const partsOf: PartsMaker = (decision, rules, key, cost, peek, at, kept) => {
  const steps: Step[] = new Array(rules.length)
  const figures: Figures[] = new Array(rules.length)
  let instants: number[] | undefined
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!
    steps[i] = { rule, key, cost }
    if (kept === undefined) {
      figures[i] = figuresIn(decision as Figures)
      continue
    }
    const answer = answerIn(kept, i * KEPT, rule.plan)
    figures[i] = figuresFrom(rule.plan, answer, answer.retry, answer.more, answer.reset)
    const instant = chargeInstant(rule.plan, answer)
    if (instant === at) continue
    instants ??= new Array(rules.length).fill(at)
    instants[i] = instant
  }
  const { allowed, policy } = decision
  const bound = rules.findIndex(({ name }) => name === policy)
  const outcome = instants === undefined ? { allowed, at, figures } : { allowed, at, figures, instants }
  return { steps, outcome, peek, bound }
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
