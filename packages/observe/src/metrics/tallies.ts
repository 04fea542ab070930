import type { PolicyFigures } from '@sluice/limiter'
import { type Decision, receiptOf } from '@sluice/limiter/decide'
import { type Event, type Observer, observerOf } from '@sluice/limiter/events'
import { BucketCounts } from './bucket-counts.ts'

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
  /** Of those limited: by a block. */
  blocked: number
  /** Admissions that took the last that was left. */
  exhausted: number
  /** Skipped, because the request lacked a part of the key. */
  keyMissing: number
  /** Seconds that refusals asked clients to wait; of those limited, all but {@link never}. */
  readonly waits: BucketCounts
  /** Refusals that no wait helps. */
  never: number
  /** What was left, as a share of the limit, of one decision in {@link REMAINING_ONE_IN}. */
  readonly remaining: BucketCounts
  /** Decisions until the next of which the share is noted. */
  untilNoted: number
}

/** What became of requests in one domain. */
export interface DomainTally {
  allowed: number
  denied: number
  /** Decided without the store. */
  degraded: number
}

/** Seconds. */
export const WAIT_BUCKETS: readonly number[] = [0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 86_400]
/** Shares of a limit. */
export const REMAINING_BUCKETS: readonly number[] = [0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1]
/** Of how many decisions of a policy one is looked at, on average. */
export const REMAINING_ONE_IN = 10

/** Domains, and policies of them all, that are counted apart. */
const MOST_DOMAINS = 1_000
const MOST_POLICIES = 10_000
/** Under which all others are counted: those beyond that, and limits that requests bring themselves. */
const OTHERS = 'others'

/**
 * Counts decisions by names that the rulebook has, never by anything a client sent. Looking is not counted.
 * @example
 * const tallies = new Tallies((domain, policy) => names.get(domain)?.has(policy) ?? false)
 * add(tallies.observe)
 */
export class Tallies {
  readonly domains: Map<string, DomainTally> = new Map()
  readonly policies: PolicyTally[] = []
  readonly #known: (domain: string, policy: string) => boolean
  readonly #random: () => number
  readonly #byName = new Map<string, Map<string, PolicyTally>>()

  /**
   * @param known whether a policy is one of the rulebook's
   * @param random from 0 to below 1: which decisions are samples, so that traffic with a rhythm has no part in it
   */
  constructor(known: (domain: string, policy: string) => boolean, random: () => number = Math.random) {
    this.#known = known
    this.#random = random
  }

  readonly observe: Observer = observerOf(['decided', 'key-missing'], (event: Event) => {
    if (event.type === 'key-missing') this.#policy(this.#reported(event.domain), event.policy).keyMissing++
    else if (event.type === 'decided' && !event.peek) {
      const { allowed, policies, degraded } = event.decision
      const name = this.#reported(event.domain)
      const domain = this.domains.get(name)!
      domain[allowed ? 'allowed' : 'denied']++
      if (degraded) domain.degraded++
      for (let i = 0; i < policies.length; i++) {
        const figures = policies[i]!
        const tally = this.#policy(name, figures.policy)
        count(tally, figures, degraded)
        if (tookTheLast(event.decision, i)) tally.exhausted++
        this.#noteRemaining(tally, figures)
      }
    }
  })

  #noteRemaining(tally: PolicyTally, { remaining, limit }: PolicyFigures): void {
    if (remaining === null || limit === 0) return // not known, and no share of nothing
    if (tally.untilNoted > 0) {
      tally.untilNoted--
      return
    }
    tally.remaining.add(Math.min(1, remaining / limit))
    // From 0 to 2n − 2, which is n − 1 on average.
    tally.untilNoted = Math.floor(this.#random() * (2 * REMAINING_ONE_IN - 1))
  }

  /** The name under which a domain is counted. */
  #reported(domain: string): string {
    if (this.domains.has(domain)) return domain
    const name = this.domains.size < MOST_DOMAINS ? domain : OTHERS
    if (!this.domains.has(name)) this.domains.set(name, { allowed: 0, denied: 0, degraded: 0 })
    return name
  }

  #policy(domain: string, policy: string): PolicyTally {
    const tallies = this.#byName.get(domain) ?? new Map<string, PolicyTally>()
    const known = tallies.get(policy)
    if (known !== undefined) return known
    if (policy !== OTHERS && (this.policies.length >= MOST_POLICIES || !this.#known(domain, policy))) {
      return this.#policy(domain, OTHERS)
    }
    const tally: PolicyTally = {
      domain,
      policy,
      allowed: 0,
      limited: 0,
      error: 0,
      shadow: 0,
      deprioritized: 0,
      soft: 0,
      blocked: 0,
      exhausted: 0,
      keyMissing: 0,
      waits: new BucketCounts(WAIT_BUCKETS),
      never: 0,
      remaining: new BucketCounts(REMAINING_BUCKETS),
      untilNoted: 0,
    }
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
  else countRefusal(tally, figures)
  if (soft === true) tally.soft++
}

function countRefusal(tally: PolicyTally, { retryAfterMs, blocked }: PolicyFigures): void {
  tally.limited++
  if (blocked === true) tally.blocked++
  if (retryAfterMs === null) tally.never++
  else tally.waits.add(retryAfterMs / 1_000)
}

/**
 * The passage from some to none: what was charged was there before, so it is the charge that leaves nothing. A request
 * that another policy refuses charges nothing.
 */
function tookTheLast(decision: Decision, i: number): boolean {
  const { allowed, remaining } = decision.policies[i]!
  if (remaining !== 0 || !allowed || !decision.allowed || decision.degraded) return false
  return (receiptOf(decision)?.steps[i]?.cost ?? 0) > 0
}
