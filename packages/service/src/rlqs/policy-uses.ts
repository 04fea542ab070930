/** What proxies reported of one policy. */
export interface PolicyUse {
  readonly domain: string
  readonly policy: string
  allowed: number
  denied: number
  /** Buckets that lacked a part of the key. */
  missing: number
}

/** Policies counted apart, over all domains; others are not counted. */
const MOST_POLICIES = 10_000

/** Requests that proxies decided by themselves, counted by names that the rulebook has. */
export class PolicyUses {
  readonly #uses = new Map<string, Map<string, PolicyUse>>()
  #count = 0

  get all(): readonly PolicyUse[] {
    return [...this.#uses.values()].flatMap((policies) => [...policies.values()])
  }

  count(domain: string, policy: string, allowed: number, denied: number): void {
    const use = this.#of(domain, policy)
    if (use === undefined) return
    use.allowed += allowed
    use.denied += denied
  }

  missing(domain: string, policy: string): void {
    const use = this.#of(domain, policy)
    if (use !== undefined) use.missing++
  }

  #of(domain: string, policy: string): PolicyUse | undefined {
    const policies = this.#uses.get(domain) ?? new Map<string, PolicyUse>()
    const known = policies.get(policy)
    if (known !== undefined || this.#count >= MOST_POLICIES) return known
    const use = { domain, policy, allowed: 0, denied: 0, missing: 0 }
    this.#uses.set(domain, policies.set(policy, use))
    this.#count++
    return use
  }
}
