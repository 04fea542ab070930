import { chargedAt } from '../../core/decide/outcome.ts'
import type { Observer } from '../../observe/events.ts'
import type { Charge, Outcome, Step, Store } from '../store.ts'
import { Grants } from './grants.ts'
import { grantedBy, joined, type LastAnswer, updated } from './last-answer.ts'

/** A request that waits for a question under way. */
interface WaitingStep {
  readonly step: Step
  resolve(outcome: Outcome | Promise<Outcome>): void
  reject(error: unknown): void
}

/** What the leases of one node share. */
export interface Shared {
  readonly store: Store
  readonly nodes: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly observe: Observer | undefined
}

/**
 * What one node knows and has of one state. The first request only finds out what is left. From then on one that finds
 * nothing here takes a lease along; requests that come meanwhile wait for that answer, in order.
 */
export class KeyLease {
  readonly step: Step
  /** Monotonic milliseconds. */
  used: number
  readonly #shared: Shared
  readonly #grants = new Grants()
  readonly #waiting: WaitingStep[] = []
  /** Absent until the store has answered, and after a correction. */
  #last: LastAnswer | undefined
  /** The question under way, until all who waited for it have their answers. */
  #pending: Promise<void> | undefined

  /** @param step any request's: what is taken ahead is charged as it would be */
  constructor(step: Step, shared: Shared) {
    this.step = step
    this.#shared = shared
    this.used = shared.now()
  }

  get pending(): Promise<void> | undefined {
    return this.#pending
  }

  decide(step: Step): Promise<Outcome> {
    const now = this.#shared.now()
    this.used = now
    if (this.#waiting.length === 0) {
      const left = this.#grants.units(now)
      if (step.cost <= left && this.#last !== undefined) {
        const outcome = this.#grant(this.#last, step.cost, left, now)
        this.#fillUp(left - step.cost)
        return Promise.resolve(outcome)
      }
      if (this.#pending === undefined && this.#size() - left <= step.cost) return this.#straight(step)
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step, resolve, reject })
      this.#pending ??= this.#ask()
    })
  }

  /** Looks at both: only what is missing here is asked of the store. */
  async look(step: Step): Promise<Outcome> {
    const left = this.#grants.units(this.#shared.now())
    if (left === 0 || step.cost > step.rule.plan.capacity) return this.#shared.store.decide([step], true)
    return joined(
      await this.#shared.store.decide([{ ...step, cost: Math.max(0, step.cost - left) }], true),
      left,
    )
  }

  /** After a correction the store is asked before anything is granted here. */
  forgetFigures(): void {
    this.#last = undefined
  }

  /** Gives back what is left, when no question is under way any more. Never rejects. */
  async retire(): Promise<void> {
    await this.#pending
    await this.#giveBack()
  }

  #grant(last: LastAnswer, cost: number, left: number, now: number): Outcome {
    this.#shared.observe?.({ type: 'prefetched', policy: this.step.rule.name, cost })
    return grantedBy(last, left - cost, now, this.#grants.grant(cost))
  }

  /** The largest lease, by what is known to be left: less the less it is, and none where nothing is known. */
  #size(): number {
    if (this.#last === undefined) return 0
    return Math.min(
      this.step.rule.prefetch!,
      Math.floor(this.#last.figures.remaining / (2 * this.#shared.nodes)),
    )
  }

  /** Takes the other half of a half-used lease, while no request waits; one unit less, so that ahead − 1 lie here at most. */
  #fillUp(left: number): void {
    const size = this.#size()
    if (this.#pending === undefined && size > 1 && (size - 1 - left) * 2 >= size) this.#pending = this.#ask()
  }

  /** Asks until all who wait have their answers. Never rejects. */
  async #ask(): Promise<void> {
    do {
      await this.#take(this.#waiting.splice(0))
    } while (this.#serve())
    this.#pending = undefined
  }

  /** One question for all that a group needs, and for a lease. Where that is too much, each asks for itself. */
  async #take(group: readonly WaitingStep[]): Promise<void> {
    const asked = this.#shared.now()
    const needed = costOfGroup(group)
    const spare = this.#size() - this.#grants.units(asked) - (needed === 0 ? 1 : 0)
    const cost = Math.max(needed, spare)
    let outcome: Outcome
    try {
      outcome = await this.#shared.store.decide([{ ...this.step, cost }], false)
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    this.#last = updated(this.#last, outcome, this.#shared.now())
    if (outcome.allowed && outcome.degraded !== true) {
      this.#keep(outcome, cost - needed, asked)
      this.#answer(group, outcome)
      return
    }
    // In the store's place something admits, or counts in process: there is nothing to be had ahead.
    if (outcome.allowed) {
      await this.#correct([{ step: this.step, at: chargedAt(outcome, 0), change: -cost, degraded: true }])
    }
    for (const { step, resolve } of group) resolve(this.#straight(step))
  }

  /** What a window was charged ends with it, counted from before the store was asked. */
  #keep(outcome: Outcome, units: number, asked: number): void {
    const { resetAfterMs } = outcome.figures[0]!
    const ends = this.step.rule.plan.algorithm.traits.ends === true && resetAfterMs !== null
    if (units > 0)
      this.#grants.add({
        at: chargedAt(outcome, 0),
        units,
        until: ends ? asked + resetAfterMs : Number.POSITIVE_INFINITY,
      })
  }

  #answer(group: readonly WaitingStep[], outcome: Outcome): void {
    const { answered } = this.#last!
    let left = this.#grants.units(answered) + costOfGroup(group)
    for (const { step, resolve } of group) {
      left -= step.cost
      resolve(grantedBy(this.#last!, left, answered, chargedAt(outcome, 0)))
    }
  }

  /** Serves who came meanwhile, in order. @returns whether the rest should share one more question */
  #serve(): boolean {
    const now = this.#shared.now()
    let left = this.#grants.units(now)
    while (this.#waiting.length > 0 && this.#last !== undefined && this.#waiting[0]!.step.cost <= left) {
      const { step, resolve } = this.#waiting.shift()!
      resolve(this.#grant(this.#last, step.cost, left, now))
      left -= step.cost
    }
    if (this.#waiting.length === 0) return false
    if (this.#last !== undefined && costOfGroup(this.#waiting) <= this.#last.figures.remaining) return true
    for (const { step, resolve } of this.#waiting.splice(0)) resolve(this.#straight(step))
    return false
  }

  /** Asks the store for this request alone. It is not refused while anything that this node took ahead is unused. */
  async #straight(step: Step): Promise<Outcome> {
    let outcome = await this.#shared.store.decide([step], false)
    if (!outcome.allowed && outcome.degraded !== true && this.#grants.units(this.#shared.now()) > 0) {
      await this.#giveBack()
      outcome = await this.#shared.store.decide([step], false)
    }
    const now = this.#shared.now()
    this.#last = updated(this.#last, outcome, now)
    const left = this.#grants.units(now)
    return outcome.allowed && left > 0 ? joined(outcome, left) : outcome
  }

  #giveBack(): Promise<void> {
    const left = this.#grants.empty(this.#shared.now())
    return this.#correct(left.map(({ at, units }) => ({ step: this.step, at, change: -units })))
  }

  /** What does not arrive is missing from the quota until that is refilled; no request waits for it. */
  async #correct(charges: readonly Charge[]): Promise<void> {
    if (charges.length === 0) return
    try {
      await this.#shared.store.settle(charges)
    } catch {}
  }
}

function costOfGroup(group: readonly WaitingStep[]): number {
  return group.reduce((sum, { step }) => sum + step.cost, 0)
}
