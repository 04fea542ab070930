import { type Decision, type MaybePromise, monotonicClock } from '@sluice/limiter'
import { decisionOf, holdsSlots, receiptOf } from '@sluice/limiter/decide'
import type { Observer } from '@sluice/limiter/events'
import {
  checkedPriority,
  foresee,
  type Held,
  type Judge,
  TurnQueue,
  type TurnRefusal,
  type Waiter,
} from '@sluice/limiter/flow'
import { checkCall, checkOptions } from '@sluice/limiter/options'
import type { AnswerLimits } from '../answers/answer-limits.ts'
import { type Answer, readAnswerLimits } from '../answers/answer-reader.ts'
import type { Allowance } from './allowance.ts'
import { BudgetWatch } from './budget-watch.ts'
import { CallCounters, type DestinationCounts } from './call-counters.ts'
import { Destinations } from './destinations.ts'
import { neverReached } from './never-reached.ts'
import type { CallKeeper, CallParts, OutboundCall } from './outbound-call.ts'
import { CALL_FIELDS, type CallOptions, type OutboundOptions, outboundCheck } from './outbound-options.ts'
import type { GivenRequest, OutboundCost } from './outbound-request.ts'
import { pauseSteps, sharedPause } from './shared-pause.ts'

/** Another process tries first: it is asked again after so many milliseconds. */
const TURN_TAKEN_MS = 250
/** What nothing limits. */
const FREE: Decision = /* @__PURE__ */ decisionOf([], { allowed: true, at: 0, figures: [] }, false)

const NO_OPTIONS: CallOptions = {}

/** All calls to others, and what they wait for. */
export class OutboundCalls implements CallKeeper, Judge {
  readonly #destinations: Destinations
  readonly turns: TurnQueue
  readonly #pause = sharedPause()
  readonly #options: OutboundOptions
  readonly #read: ((answer: Answer) => AnswerLimits | undefined) | undefined
  readonly #counters: CallCounters
  readonly #budgets: BudgetWatch | undefined
  readonly #observe: Observer | undefined
  readonly #begin: number
  #underWay = 0
  #idle: (() => void)[] = []

  /** @throws ConfigError for options that are wrong */
  constructor(options: OutboundOptions = {}) {
    checkOptions(options, outboundCheck)
    const { clock = monotonicClock(), timers, maxWaiting = 1_000, maxWaitingPerKey } = options
    const { read = (answer: Answer) => readAnswerLimits(answer, { now: Date.now() }), observe } = options
    this.#options = options
    this.#destinations = new Destinations(options)
    this.turns = new TurnQueue(this, { clock, timers, most: maxWaiting, mostPerLane: maxWaitingPerKey })
    this.#begin = this.turns.now()
    this.#read = read === false ? undefined : read
    this.#observe = observe
    this.#counters = new CallCounters(clock, options.log)
    this.#budgets = observe === undefined ? undefined : new BudgetWatch(observe)
  }

  /**
   * A call of these options: what `enter` takes.
   * @throws TypeError for options that are wrong
   */
  partsOf(request: GivenRequest, options: CallOptions = NO_OPTIONS, signal?: AbortSignal): CallParts {
    if (options !== NO_OPTIONS) checkCall(options, CALL_FIELDS, ['limits'])
    const { key } = options
    if (key !== undefined && typeof key !== 'string' && (typeof key !== 'object' || key === null))
      throw new TypeError('limits.key must be text, a list of texts, or an object of those')
    const { priority, maxWaitMs = this.#options.maxWaitMs ?? 60_000 } = options
    if (!(maxWaitMs >= 0)) throw new TypeError('limits.maxWaitMs must be milliseconds, 0 or more')
    const { allowance, steps, cost } = this.#destinations.find(request, options, this.turns.now())
    if (this.#options.weightOf !== undefined) this.weightOf(allowance.flow) // here its error is the call's
    const { fallback, usage } = allowance.route.destination
    const isKept = fallback !== undefined || usage !== undefined
    return {
      calls: this,
      allowance,
      steps,
      cost,
      priority: checkedPriority(priority),
      until: this.turns.now() + maxWaitMs,
      signal: options.signal ?? signal,
      request: isKept ? request : undefined,
    }
  }

  enter(call: OutboundCall): void {
    this.turns.enter(call)
    if (call.stage === 'waiting' || call.stage === 'delayed') this.#waits(call)
  }

  ask(waiter: Waiter): MaybePromise<Decision | Held> {
    const call = waiter as OutboundCall
    const { engine, domain } = call.route
    const waitMs = call.allowance.waitMs(this.turns.now(), call)
    if (waitMs > 0) return { held: call.allowance.name, waitMs }
    if (engine === undefined || call.decision !== undefined) return FREE
    if (!engine.async) return engine.decide(domain, call.steps, false)
    return this.#askAll(call).then((answer) => {
      if ('held' in answer || !answer.allowed) this.#waits(call)
      return answer
    })
  }

  look(steps: CallParts['steps'], waiter: Waiter): MaybePromise<Decision> {
    const { engine, domain } = (waiter as OutboundCall).route
    return engine === undefined ? FREE : engine.decide(domain, steps, true)
  }

  giveBack(decision: Decision, waiter: Waiter): MaybePromise<unknown> {
    const call = waiter as OutboundCall
    const charge = decision === FREE ? call.decision : decision
    call.decision = undefined
    this.#releaseTurn(call)
    return charge === undefined ? undefined : call.route.engine?.refund(call.route.domain, charge)
  }

  gatesOf(waiter: Waiter): readonly string[] {
    return [(waiter as OutboundCall).allowance.name]
  }

  weightOf(flow: string): number {
    const weight = this.#options.weightOf?.(flow) ?? 1
    if (!(weight > 0 && weight < Number.POSITIVE_INFINITY))
      throw new TypeError(`weightOf must give a number above 0, not ${weight}`)
    return weight
  }

  serve(call: OutboundCall, decision: Decision): void {
    const { route, allowance } = call
    if (decision !== FREE) {
      call.decision = decision
      this.#budgets?.look(route.engine!, route.domain, decision)
    }
    const now = this.turns.now()
    // Its algorithm delayed it, and meanwhile the destination asked for a pause: what it has paid counts.
    if (decision.delayMs > 0 && allowance.waitMs(now, call) > 0) {
      call.steps = []
      call.stage = 'new'
      this.turns.enter(call)
      return
    }
    this.#underWay++
    call.sent = allowance.send(now, call)
    this.#counters.sent(call.destination, decision === FREE ? undefined : decision)
    if (call.since > 0) this.#waited(call, now)
    call.start()
  }

  left(
    call: OutboundCall,
    why: TurnRefusal | undefined,
    decision: Decision | undefined,
    waitMs: number | null,
  ): void {
    const { route, destination } = call
    if (call.decision !== undefined) ignoreFailure(this.giveBack(FREE, call))
    this.#releaseTurn(call)
    if (call.since > 0) this.#counters.waiting(destination, -1)
    call.since = 0
    if (why === undefined) return
    if (decision !== undefined && decision !== FREE && route.engine !== undefined)
      this.#budgets?.look(route.engine, route.domain, decision)
    this.#counters.refused(destination, why)
    this.#observe?.({ type: 'call-refused', destination, reason: why, retryAfterMs: waitMs ?? undefined })
  }

  answered(call: OutboundCall, answer: Answer): void {
    const { allowance, route, destination } = call
    const limits = allowance.reads(answer.status) ? this.#read?.(answer) : undefined
    const ms = allowance.answered(call.sent!, limits, answer.status, this.turns.now())
    this.#releaseTurn(call)
    if (ms > 0) {
      if (route.engine?.async === true)
        ignoreFailure(route.engine.block([{ rule: this.#pause.pause, key: allowance.name }], ms))
      this.#counters.paused(destination)
      this.#observe?.({ type: 'destination-paused', destination, ms })
    }
    this.turns.open([allowance.name])
  }

  lost(call: OutboundCall, error: unknown): void {
    const { allowance, route, decision: charge } = call
    allowance.lost(call.sent!)
    this.#releaseTurn(call)
    this.turns.open([allowance.name])
    if (neverReached(error) && charge !== undefined) {
      this.#correct(charge, route.engine!.refund(route.domain, charge))
      call.decision = undefined
    }
    this.ended(call, undefined)
  }

  ended(call: OutboundCall, actual: OutboundCost | undefined): void {
    const { route, decision: charge } = call
    if (call.sent === undefined) return
    call.sent = undefined
    call.decision = undefined
    this.#underWay--
    if (charge !== undefined && actual !== undefined)
      this.#correct(charge, route.engine!.settle(route.domain, charge, actual))
    else if (charge !== undefined && receiptOf(charge)!.steps.some(holdsSlots))
      this.#correct(charge, route.engine!.refund(route.domain, charge, 0))
    if (this.#underWay === 0) for (const done of this.#idle.splice(0)) done()
  }

  /** Whether anything of an answer's body matters. */
  watches(call: OutboundCall): boolean {
    const { decision: charge, route } = call
    if (charge === undefined) return false
    return route.destination.usage !== undefined || receiptOf(charge)!.steps.some(holdsSlots)
  }

  async drain(): Promise<void> {
    await this.turns.drain()
    if (this.#underWay > 0) await new Promise<void>((resolve) => void this.#idle.push(resolve))
  }

  /** Milliseconds until so many calls like this one are through, at least. */
  async foreseenMs({ steps, allowance }: CallParts, calls: number): Promise<number> {
    const { engine, domain } = allowance.route
    const wait = allowance.waitMs(this.turns.now(), { costOf: () => 1 })
    const open = Number.isFinite(wait) ? wait : 0
    if (engine === undefined || calls === 0) return open
    const units = steps.map(({ cost }) => Math.min(Number.MAX_SAFE_INTEGER, cost * calls))
    const { waitMs } = await foresee(steps, units, (asked) => engine.decide(domain, asked, true))
    return Math.max(open, waitMs)
  }

  counts(): Readonly<Record<string, DestinationCounts>> {
    return this.#counters.all()
  }

  /** As `ask`, with what other processes know of pauses. */
  async #askAll(call: OutboundCall): Promise<Decision | Held> {
    const { allowance, route } = call
    const engine = route.engine!
    const shared = pauseSteps(this.#pause, allowance.name)
    if (allowance.probing) {
      const own = await engine.decide(route.domain, [{ ...shared[1], cost: 1 }], false)
      if (!own.allowed) return this.#heldByOthers(allowance, TURN_TAKEN_MS)
      call.turn = own
    }
    const decision = await engine.decide(route.domain, [...call.steps, ...shared], false)
    const [pause, turn] = receiptOf(decision)!.outcome.figures.slice(-2)
    if (pause!.blocked) {
      this.#releaseTurn(call)
      return this.#heldByOthers(allowance, pause!.retryAfterMs!)
    }
    if (!decision.allowed) {
      this.#releaseTurn(call)
      return decision
    }
    const taken = turn!.remaining === 0 && call.turn === undefined
    const waitMs = taken ? TURN_TAKEN_MS : allowance.waitMs(this.turns.now(), call)
    if (waitMs === 0) return decision
    await this.giveBack(decision, call)
    return taken ? this.#heldByOthers(allowance, waitMs) : { held: allowance.name, waitMs }
  }

  #heldByOthers(allowance: Allowance, waitMs: number): Held {
    const now = this.turns.now()
    allowance.pause(now, waitMs, !allowance.probing)
    return { held: allowance.name, waitMs }
  }

  #waits(call: OutboundCall): void {
    if (call.since > 0 || call.stage === 'gone') return
    call.since = this.#sinceBegin(this.turns.now())
    this.#counters.waiting(call.destination, 1)
  }

  /** Whole, from 1: small enough for the engine to keep it in the call itself. */
  #sinceBegin(now: number): number {
    return 1 + Math.round(now - this.#begin)
  }

  #waited(call: OutboundCall, now: number): void {
    const { destination, since } = call
    const ms = this.#sinceBegin(now) - since
    call.since = 0
    this.#counters.waiting(destination, -1)
    this.#counters.waited(destination, ms)
    this.#observe?.({ type: 'call-waited', destination, ms })
  }

  #releaseTurn(call: OutboundCall): void {
    if (call.turn === undefined) return
    const { turn, route } = call
    call.turn = undefined
    ignoreFailure(route.engine!.refund(route.domain, turn, 0))
  }

  /** What a correction brings back may let others go. */
  #correct(charge: Decision, done: MaybePromise<boolean>): void {
    const { steps } = receiptOf(charge)!
    if (done instanceof Promise)
      done.then(
        () => this.turns.openSteps(steps),
        () => undefined,
      )
    else this.turns.openSteps(steps)
  }
}

/** The store says so by itself; what was not given back ends by its time. */
function ignoreFailure(done: MaybePromise<unknown>): void {
  if (done instanceof Promise) done.catch(() => undefined)
}
