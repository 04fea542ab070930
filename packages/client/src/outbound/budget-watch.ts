import type { Decision } from '@sluice/limiter'
import { chargedAt, type Engine, receiptOf, type Step } from '@sluice/limiter/decide'
import type { Observer } from '@sluice/limiter/events'

/** Windows that were reported last, for so many limits and keys. */
const MOST_KNOWN = 1_000
const TICKS_PER_MS = 1_000

/**
 * Reports limits with `soft` when that share is used, and when all of it is: once in a window, over all processes of a
 * store. The store remembers it by an id, as it does for reservations.
 */
export class BudgetWatch {
  readonly #observe: Observer
  readonly #known = new Map<string, string>()

  constructor(observe: Observer) {
    this.#observe = observe
  }

  /** After a charge or a refusal. */
  look(engine: Engine, domain: string, decision: Decision): void {
    const receipt = receiptOf(decision)
    if (receipt === undefined) return
    const { steps, outcome } = receipt
    for (let i = 0; i < steps.length; i++) {
      const { rule, cost } = steps[i]!
      if (rule.soft === undefined) continue
      const { allowed, limit, remaining, resetAfterMs, blocked } = outcome.figures[i]!
      if (remaining === null || blocked) continue
      const used = limit - remaining
      if (!allowed || remaining === 0) this.#report(engine, domain, steps[i]!, 1, decision, i, resetAfterMs)
      if (allowed && used >= rule.soft * limit && used - cost < rule.soft * limit)
        this.#report(engine, domain, steps[i]!, rule.soft, decision, i, resetAfterMs)
    }
  }

  #report(
    engine: Engine,
    domain: string,
    step: Step,
    share: number,
    decision: Decision,
    i: number,
    resetAfterMs: number | null,
  ): void {
    const { rule, key } = step
    const { outcome } = receiptOf(decision)!
    const at = chargedAt(outcome, i)
    const windowTicks = rule.plan.period * rule.plan.unit
    // Where nothing ends at one instant, periods are counted.
    const until =
      rule.plan.algorithm.traits.ends === true && resetAfterMs !== null
        ? outcome.at + Math.round(resetAfterMs * TICKS_PER_MS)
        : (Math.floor(at / windowTicks) + 1) * windowTicks
    const id = `budget/${rule.namespace}/${share}/${until}/${key}`
    const name = `${rule.namespace}/${share}/${key}`
    if (this.#known.get(name) === id) return
    this.#known.delete(name)
    this.#known.set(name, id)
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!)
    const first = engine.correct(domain, [{ step, at, change: 0 }], { id, until })
    const tell = (isFirst: boolean): void => {
      if (isFirst) this.#observe({ type: 'budget-used', domain, policy: rule.name, share })
    }
    if (first instanceof Promise) first.then(tell, () => this.#known.delete(name))
    else tell(first)
  }
}
