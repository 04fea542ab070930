import { type ActualCost, actualCostOf, chargesOf, correctedBy } from './core/decide/charges.ts'
import {
  type Decision,
  decidedAt,
  decisionOf,
  keepCorrected,
  type Receipt,
  receiptOf,
} from './core/decide/decision.ts'
import { MAX } from './core/decide/integers.ts'
import { holdsSlots, type StateName, type Step } from './core/decide/step.ts'
import { ConfigError } from './core/errors.ts'
import type { Request } from './core/request.ts'
import { ticksOf } from './core/time.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import { isListening, type Observer } from './observe/events.ts'
import type { Charge, Once, Outcome, Store } from './stores/store.ts'

/** What observers hear of a request. */
type AskedRequest = Pick<Request, 'method' | 'path'>

/** A request that was charged an estimate, and what settles it once. */
export interface Reserved {
  readonly decision: Decision
  readonly once: Once
}

/**
 * The verbs, once: what limiters (by key) and pipelines (by rules) offer. `domain` names who asked, in events. With a
 * store in process every verb answers at once, with a shared one by promise.
 */
export interface Engine<Async extends boolean = boolean> {
  /** Whether it answers by promise. */
  readonly async: Async
  /**
   * Asks the store about one request. With `peek` it only looks.
   * @param request for observers
   */
  decide(
    domain: string,
    steps: readonly Step[],
    peek: boolean,
    request?: AskedRequest,
  ): MaybePromise<Decision, Async>
  /**
   * As `decide`, to be settled later.
   * @param ttl milliseconds or text: how long it can be settled; unsettled, the estimate stands
   */
  reserve(
    domain: string,
    steps: readonly Step[],
    ttl: number | string,
    request?: AskedRequest,
  ): MaybePromise<Reserved, Async>
  /**
   * Settles a decision's charge at its actual cost: the rest is given back where it still counts, or more is charged,
   * into debt if need be. Slots that are held are released. Rules that `actual` does not name stay as charged. All that
   * is given back of a decision, by `refund` too, is at most what it cost at first.
   * @returns `false` when `once` was spent or is over
   */
  settle(
    domain: string,
    decision: Decision,
    actual: ActualCost | undefined,
    once?: Once,
  ): MaybePromise<boolean, Async>
  /** Corrects charges, all together; `false` when `once` was spent or is over. */
  correct(domain: string, charges: readonly Charge[], once?: Once): MaybePromise<boolean, Async>
  /**
   * Gives back what a decision charged, or `amount` of it: once, and all refunds together no more than was charged.
   * Of rules that an amount by name does not name, nothing. Slots that are held are released.
   * @throws TypeError for what is not a decision, or an amount that is no cost
   */
  refund(domain: string, decision: Decision, amount?: ActualCost): MaybePromise<boolean, Async>
  /** Forgets what keys have used, and their blocks. */
  reset(states: readonly StateName[]): MaybePromise<void, Async>
  /**
   * Refuses keys for `duration` (milliseconds or text), whatever they have used; 0 ends their blocks.
   * @throws ConfigError where none of the rules can block
   */
  block(states: readonly StateName[], duration: number | string): MaybePromise<void, Async>
}

/**
 * The verbs over a store.
 * @param observe is called with every event: decided, reserved, settled
 * @param distinct whether the steps of a request never name the same state
 * @example
 * const engine = createEngine(new MemoryStore())
 * const decision = engine.decide('shop', [{ rule, key: 'ada', cost: 1 }], false)
 */
export function createEngine<Async extends boolean>(
  store: Store<Async>,
  observe?: Observer,
  distinct = false,
): Engine<Async> {
  const merge = distinct ? withIds : merged
  const decide: Engine<Async>['decide'] =
    observe === undefined
      ? (_domain, steps, peek) => decided(store, merge(steps), peek)
      : (domain, steps, peek, request) => {
          const answer = decided(store, merge(steps), peek)
          if (!isListening(observe, 'decided')) return answer
          if (store.async)
            return observedLater(answer as Promise<Decision>, observe, domain, peek, request) as typeof answer
          observe({
            type: 'decided',
            domain,
            decision: answer as Decision,
            peek,
            method: request?.method,
            path: request?.path,
          })
          return answer
        }
  const correct: Engine<Async>['correct'] = (domain, charges, once) => {
    const answer = store.settle(charges, once)
    if (observe === undefined) return answer
    return andThen<boolean, boolean, Async>(answer, (settled) => {
      observe({ type: 'settled', domain, settled })
      return settled
    })
  }
  // What was corrected is noted before the store is asked, so that nobody gives it back meanwhile.
  const settle = (
    domain: string,
    decision: Decision,
    actual: Parameters<typeof chargesOf>[1],
    once?: Once,
  ): MaybePromise<boolean, Async> => {
    const receipt = ownReceipt(decision)
    const charges = chargesOf(receipt, actual)
    keepCorrected(decision, correctedBy(receipt, charges))
    const answer = correct(domain, charges, once)
    if (once === undefined) return answer
    const undo = (): void => keepCorrected(decision, receipt.corrected)
    // Where `once` makes sure that nothing happens twice, what was not settled can be settled again.
    if (answer instanceof Promise) answer.catch(undo)
    return andThen<boolean, boolean, Async>(answer, (settled) => {
      if (!settled) undo()
      return settled
    })
  }
  return {
    async: store.async,
    decide,
    reserve(domain, steps, ttl, request) {
      const reserved = reserving(domain, ttl, observe)
      return andThen<Decision, Reserved, Async>(decide(domain, steps, false, request), reserved)
    },
    settle: (domain, decision, actual, once) => settle(domain, decision, actualCostOf(actual), once),
    correct,
    refund(domain, decision, amount) {
      const amountOf = actualCostOf(amount ?? MAX)
      return settle(domain, decision, (step, cost) => Math.max(0, cost - (amountOf(step) ?? 0)))
    },
    reset: (states) => all(states.map((state) => store.reset(state))),
    block(states, duration) {
      const blocking = states.filter(({ rule }) => rule.block !== undefined)
      if (blocking.length === 0) {
        throw new ConfigError(
          'no policy here can block: give one `block`, or create the limiter with blockable: true',
        )
      }
      const ticks = duration === 0 ? 0 : ticksOf(duration, ['duration'])
      return all(blocking.map((state) => store.block(state, ticks)))
    },
  }
}

/**
 * What makes a reservation of a decision.
 * @param ttl milliseconds or text: how long it can be settled
 */
export function reserving(
  domain: string,
  ttl: number | string,
  observe: Observer | undefined,
): (decision: Decision) => Reserved {
  const ticks = ticksOf(ttl, ['ttl'])
  return (decision) => {
    if (decision.allowed) observe?.({ type: 'reserved', domain, decision })
    return { decision, once: { id: globalThis.crypto.randomUUID(), until: decidedAt(decision)! + ticks } }
  }
}

async function observedLater(
  answer: Promise<Decision>,
  observe: Observer,
  domain: string,
  peek: boolean,
  request: AskedRequest | undefined,
): Promise<Decision> {
  const decision = await answer
  observe({ type: 'decided', domain, decision, peek, method: request?.method, path: request?.path })
  return decision
}

function ownReceipt(decision: Decision): Receipt {
  const own = receiptOf(decision)
  if (own === undefined) throw new TypeError('only a decision of a limiter can be refunded')
  return own
}

function decided<Async extends boolean>(
  store: Store<Async>,
  steps: readonly Step[],
  peek: boolean,
): MaybePromise<Decision, Async> {
  const answer = store.decide(steps, peek)
  return (
    store.async
      ? decidedLater(steps, answer as Promise<Outcome>, peek)
      : decisionOf(steps, answer as Outcome, peek)
  ) as MaybePromise<Decision, Async>
}

/**
 * Apart, for a function that holds closures makes a context each time it runs, whatever the store. `then` makes less than
 * `await` does.
 */
function decidedLater(steps: readonly Step[], answer: Promise<Outcome>, peek: boolean): Promise<Decision> {
  return answer.then((outcome) => decisionOf(steps, outcome, peek))
}

function all<Async extends boolean>(
  answers: readonly MaybePromise<void, Async>[],
): MaybePromise<void, Async> {
  return (
    answers.some((answer) => answer instanceof Promise)
      ? Promise.all(answers).then(() => undefined)
      : undefined
  ) as MaybePromise<void, Async>
}

/** One request charges one state once: steps that name the same state become one, with the sum of their costs. */
function merged(steps: readonly Step[]): readonly Step[] {
  if (steps.length === 1) return withIds(steps)
  const kept: Step[] = []
  const place = steps.length > MANY ? placesByState() : placeBySearch
  for (const step of steps) {
    const same = place(kept, step)
    if (same < 0) kept.push(step)
    else kept[same] = { ...kept[same]!, cost: Math.min(MAX, kept[same]!.cost + step.cost) }
  }
  return withIds(kept)
}

/** Charges that are held get their ids here. */
function withIds(steps: readonly Step[]): readonly Step[] {
  return steps.some(holdsSlots)
    ? steps.map((step) => (holdsSlots(step) ? { ...step, chargeId: newChargeId() } : step))
    : steps
}

/** From so many steps on, a table costs less than comparing each with all. */
const MANY = 16

/** Where a step of the same state is among those kept; −1: nowhere. */
function placeBySearch(kept: readonly Step[], step: Step): number {
  return kept.findIndex((other) => isSameState(other, step))
}

function isSameState({ rule: a, key }: Step, { rule: b, key: other }: Step): boolean {
  return key === other && a.namespace === b.namespace && a.plan.kind === b.plan.kind && a.role === b.role
}

/** The same by a table, which takes each step that is not there as the next of those kept. */
function placesByState(): typeof placeBySearch {
  const places = new Map<string, number>()
  return (kept, { rule, key }) => {
    const state = JSON.stringify([rule.role, rule.plan.kind, rule.namespace, key])
    const place = places.get(state)
    if (place === undefined) places.set(state, kept.length)
    return place ?? -1
  }
}

function newChargeId(): number {
  return 1 + Math.floor(Math.random() * (MAX - 1))
}
