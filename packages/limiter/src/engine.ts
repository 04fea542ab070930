import { type Decision, decisionOf, type Receipt, type Subject } from './core/decide/decision.ts'
import { MAX } from './core/decide/integers.ts'
import { isLease, type Step } from './core/decide/step.ts'
import type { Answer, Charge, Once, Outcome, Store } from './stores/store.ts'

/** The steps of one request and, side by side, the policies behind them. */
export interface Asked {
  readonly steps: readonly Step[]
  readonly subjects: readonly Subject[]
}

/** @throws TypeError unless `cost` is a whole number from 0 to 2^53−1: alike in every store. */
export function checkedCost(cost: unknown): number {
  if (typeof cost === 'number' && Number.isSafeInteger(cost) && cost >= 0) return cost
  throw new TypeError(`cost must be a whole number from 0 to 2^53−1, not ${describe(cost)}`)
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value
}

/** Asks the store about one request, and puts its answer into words. */
export function decide<Async extends boolean>(
  store: Store<Async>,
  asked: Asked,
  peek: boolean,
): Answer<Async, Decision> {
  const { steps, subjects } = isPlain(asked) ? asked : merged(asked)
  const answer = store.decide(steps, peek)
  return (
    store.async
      ? decisionLater(steps, subjects, answer as Promise<Outcome>, peek)
      : decisionOf(steps, subjects, answer as Outcome, peek)
  ) as Answer<Async, Decision>
}

/** Apart, for a function that holds closures makes a context each time it runs, whatever the store. */
async function decisionLater(
  steps: readonly Step[],
  subjects: readonly Subject[],
  answer: Promise<Outcome>,
  peek: boolean,
): Promise<Decision> {
  return decisionOf(steps, subjects, await answer, peek)
}

/**
 * Settles a charge at its actual cost: the rest is given back where it still counts, or more is charged, into
 * debt if need be. A lease ends, whatever the cost was.
 * @param actual by step; `undefined` leaves a step as it was charged
 */
export function settle<Async extends boolean>(
  store: Store<Async>,
  { steps, outcome, charged }: Receipt,
  actual: (step: Step) => number | undefined,
  once?: Once,
): Answer<Async, boolean> {
  const { figures, at, chargedAt = at, degraded } = outcome
  const charges: Charge[] = []
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!
    if (!charged || step.role === 'guard' || !figures[i]!.allowed) continue
    const cost = isLease(step) ? 0 : checkedCost(actual(step) ?? step.cost)
    const change = cost - step.cost
    charges.push({ step, at: chargedAt, change, ...(degraded && { degraded }) })
  }
  return store.settle(charges, once)
}

/** Goes on with an answer, whether it is there or promised. (Never name an export `then`: importers would call it.) */
export function next<Async extends boolean, T, U>(
  answer: Answer<Async, T>,
  go: (value: T) => U,
): Answer<Async, U> {
  return (answer instanceof Promise ? answer.then(go) : go(answer as T)) as Answer<Async, U>
}

function isPlain({ steps }: Asked): boolean {
  return steps.length === 1 && !isLease(steps[0]!)
}

/**
 * One request charges one state once: steps that name the same state become one, with the sum of their costs.
 * Leases get their names here.
 */
function merged(asked: Asked): Asked {
  const { steps } = asked
  const kept: Step[] = []
  const subjects: Subject[] = []
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!
    const twin = kept.findIndex((other) => sameState(other, step))
    if (twin >= 0) {
      kept[twin] = { ...kept[twin]!, cost: Math.min(MAX, kept[twin]!.cost + step.cost) }
      continue
    }
    kept.push(step.watches === undefined ? withLease(step) : { ...step, watches: kept.length - 1 })
    subjects.push(asked.subjects[i]!)
  }
  return { steps: kept, subjects }
}

function sameState(a: Step, b: Step): boolean {
  return a.key === b.key && a.policy === b.policy && a.plan.kind === b.plan.kind && a.role === b.role
}

function withLease(step: Step): Step {
  return isLease(step) ? { ...step, lease: 1 + Math.floor(Math.random() * (MAX - 1)) } : step
}
