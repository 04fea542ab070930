import { type Rule, receiptOf } from '@sluice/limiter/decide'
import { type Event, type Observer, observerOf } from '@sluice/limiter/events'

/** Policies that are known apart. */
const MOST_POLICIES = 1_000
/** Rules of one policy, whose limit depends on the caller, say: of more, those that came last. */
const MOST_RULES = 10

/** One policy that has decided a request, or skipped one that lacks a part of its key. */
export interface SeenPolicy {
  readonly domain: string
  readonly policy: string
  /** Its rules, that which came last being the last; several where its limit differs from caller to caller. */
  readonly rules: readonly Rule[]
}

/** The limits that have decided a request: what an app has in place of a rulebook that lists them. */
export class SeenPolicies {
  readonly #byName = new Map<string, Map<string, SeenPolicy>>()
  /** For each rule, the domain in which it decided last. */
  readonly #domains = new WeakMap<Rule, string>()
  #size = 0

  readonly observe: Observer = observerOf(['decided', 'key-missing'], (event: Event) => {
    if (event.type === 'key-missing') this.#noteName(event.domain, event.policy)
    if (event.type !== 'decided' || event.peek) return
    const steps = receiptOf(event.decision)?.steps
    if (steps === undefined) return
    for (let i = 0; i < steps.length; i++) {
      const { rule } = steps[i]!
      if (this.#domains.get(rule) !== event.domain) this.#note(event.domain, rule)
    }
  })

  get size(): number {
    return this.#size
  }

  get all(): readonly SeenPolicy[] {
    return [...this.#byName.values()].flatMap((policies) => [...policies.values()])
  }

  find(domain: string, policy: string): SeenPolicy | undefined {
    return this.#byName.get(domain)?.get(policy)
  }

  #note(domain: string, rule: Rule): void {
    this.#domains.set(rule, domain)
    this.#noteName(domain, rule.name)
    const seen = this.find(domain, rule.name)
    if (seen === undefined) return
    const others = seen.rules.filter((other) => !isSameQuota(other, rule))
    this.#byName.get(domain)!.set(rule.name, { ...seen, rules: [...others, rule].slice(-MOST_RULES) })
  }

  #noteName(domain: string, policy: string): void {
    if (this.#size >= MOST_POLICIES || this.find(domain, policy) !== undefined) return
    const policies = this.#byName.get(domain) ?? new Map<string, SeenPolicy>()
    this.#byName.set(domain, policies.set(policy, { domain, policy, rules: [] }))
    this.#size++
  }
}

function isSameQuota(a: Rule, b: Rule): boolean {
  return a.namespace === b.namespace && a.plan.kind === b.plan.kind && a.plan.capacity === b.plan.capacity
}
