import type { PolicyFigures } from '@sluice/limiter'
import type { Event, Observer } from '@sluice/limiter/events'

/** What became of requests at one policy. */
export interface PolicyTally {
  readonly domain: string
  readonly policy: string
  allowed: number
  limited: number
  /** Decided without the store. */
  error: number
  /** Would have been refused, in shadow mode. */
  shadow: number
  /** Admitted at low priority. */
  deprioritized: number
  /** Past the soft threshold. */
  soft: number
  /** Skipped, because the request lacked a part of the key. */
  keyMissing: number
}

/** What became of requests in one domain. */
export interface DomainTally {
  allowed: number
  denied: number
  /** Decided without the store. */
  degraded: number
}

/** Policies counted apart, over all domains. */
const MOST_POLICIES = 10_000
/** Under which all others are counted: those beyond {@link MOST_POLICIES}, and limits that requests bring themselves. */
const OTHERS = 'others'

/** Counts decisions by names that the rulebook has, never by anything a client sent. Looking is not counted. */
export class Tallies {
  readonly domains: Map<string, DomainTally> = new Map()
  readonly policies: PolicyTally[] = []
  readonly #known: (domain: string, policy: string) => boolean
  readonly #byName = new Map<string, Map<string, PolicyTally>>()

  constructor(known: (domain: string, policy: string) => boolean) {
    this.#known = known
  }

  readonly observe: Observer = (event: Event) => {
    if (event.type === 'key-missing') this.#policy(event.domain, event.policy).keyMissing++
    else if (event.type === 'decided' && !event.peek) {
      const { allowed, policies, degraded } = event.decision
      const domain = this.#domain(event.domain)
      domain[allowed ? 'allowed' : 'denied']++
      if (degraded) domain.degraded++
      for (const figures of policies) count(this.#policy(event.domain, figures.policy), figures, degraded)
    }
  }

  #domain(domain: string): DomainTally {
    const tally = this.domains.get(domain) ?? { allowed: 0, denied: 0, degraded: 0 }
    this.domains.set(domain, tally)
    return tally
  }

  #policy(domain: string, policy: string): PolicyTally {
    const tallies = this.#byName.get(domain) ?? new Map<string, PolicyTally>()
    const known = tallies.get(policy)
    if (known !== undefined) return known
    if (policy !== OTHERS && (this.policies.length >= MOST_POLICIES || !this.#known(domain, policy))) {
      return this.#policy(domain, OTHERS)
    }
    const none = { allowed: 0, limited: 0, error: 0, shadow: 0, deprioritized: 0, soft: 0, keyMissing: 0 }
    const tally = { domain, policy, ...none }
    this.policies.push(tally)
    this.#byName.set(domain, tallies.set(policy, tally))
    return tally
  }
}

function count(tally: PolicyTally, figures: PolicyFigures, degraded: boolean): void {
  const { allowed, shadow, deprioritizes, soft } = figures
  if (degraded) tally.error++
  else if (allowed) tally.allowed++
  else if (shadow === true) tally.shadow++
  else if (deprioritizes === true) tally.deprioritized++
  else tally.limited++
  if (soft === true) tally.soft++
}
