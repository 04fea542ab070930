import { type Observer, observerOf } from '@sluice/limiter/events'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import type { PolicyTally, Tallies } from '../metrics/tallies.ts'
import type { WatchedStore } from '../store-fails.ts'
import { Fullness } from './fullness.ts'
import { LatencyCounts } from './latency-counts.ts'
import type { LiveHistory, LivePolicy, LiveRequests, LiveRulebook, LiveSecond } from './live-second.ts'
import { LiveWindow, overLimit } from './live-window.ts'
import { PolicySeconds } from './policy-seconds.ts'

const MOST_POLICIES = 200
const OBSERVED = ['decided', 'answered', 'store-answered', 'store-failed'] as const

/** What is in force, and why the files are not, if they are not. */
export interface RulesState {
  /** `since` is in milliseconds since the epoch. */
  readonly live: Omit<LiveRulebook, 'mistake'> | undefined
  readonly failure: { readonly message: string } | undefined
}

export interface LiveParts {
  readonly tallies: Tallies
  readonly stores: WatchedStore
  readonly rules: () => RulesState
  /** Whether a policy is one of the rulebook's. */
  readonly counts: (domain: string, policy: string) => boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * What happens from second to second: the difference of the counters that `/metrics` shows, and what they do not have.
 * @example
 * const figures = new LiveFigures({ tallies, stores: { store }, rules, counts, now: Date.now })
 * add(figures.observe)
 * setInterval(() => figures.tick(), 1_000)
 */
export class LiveFigures {
  readonly #parts: LiveParts
  readonly #latency = new LatencyCounts()
  readonly #storeLatency = new LatencyCounts()
  readonly #fullness: Fullness
  readonly #before = new Map<PolicyTally, PolicyTally>()
  #totals: LiveRequests = { allowed: 0, denied: 0, degraded: 0 }
  #failures = 0
  readonly #window = new LiveWindow()
  /** The same by policy, for longer. */
  readonly policySeconds: PolicySeconds = new PolicySeconds()

  constructor(parts: LiveParts) {
    this.#parts = parts
    this.#fullness = new Fullness(parts.counts)
    // What was counted before is of no second.
    this.#totals = this.#sums()
    this.#policies()
  }

  readonly observe: Observer = observerOf(OBSERVED, (event) => {
    if (event.type === 'decided') this.#fullness.observe(event)
    else if (event.type === 'answered') this.#latency.add(event.ms)
    else if (event.type === 'store-answered') this.#storeLatency.add(event.ms)
    else if (event.type === 'store-failed') this.#failures++
  })

  get history(): LiveHistory {
    return { rows: this.#window.rows, seconds: this.#window.seconds }
  }

  /** Ends a second. */
  tick(): LiveSecond {
    const { now, rules } = this.#parts
    const { live, failure } = rules()
    const totals = this.#sums()
    const policies = this.#policies()
    const second: LiveSecond = {
      at: now(),
      requests: difference(totals, this.#totals),
      totals,
      latency: this.#latency.take(),
      store: this.#store(),
      rules: {
        version: live?.version ?? '',
        since: live?.since ?? 0,
        mistake: failure?.message ?? null,
        ...(live?.origin !== undefined && { origin: live.origin }),
      },
      policies: policies.slice(0, MOST_POLICIES),
      policiesLeftOut: Math.max(0, policies.length - MOST_POLICIES),
    }
    this.#totals = totals
    this.#window.add(second)
    this.policySeconds.add(second.at, policies)
    return second
  }

  #sums(): LiveRequests {
    let [allowed, denied, degraded] = [0, 0, 0]
    for (const tally of this.#parts.tallies.domains.values()) {
      allowed += tally.allowed
      denied += tally.denied
      degraded += tally.degraded
    }
    return { allowed, denied, degraded }
  }

  #policies(): LivePolicy[] {
    const fullness = this.#fullness.take()
    const active: LivePolicy[] = []
    for (const tally of this.#parts.tallies.policies) {
      const before = this.#before.get(tally)
      const since = (name: 'allowed' | 'limited' | 'shadow' | 'deprioritized' | 'error'): number =>
        tally[name] - (before?.[name] ?? 0)
      const counts = {
        allowed: since('allowed'),
        limited: since('limited'),
        shadow: since('shadow'),
        deprioritized: since('deprioritized'),
        degraded: since('error'),
      }
      if (Object.values(counts).every((count) => count === 0)) continue
      const { domain, policy } = tally
      active.push({ domain, policy, ...counts, fullness: fullness(domain, policy) })
      this.#before.set(tally, { ...tally })
    }
    return active.sort((a, b) => overLimit(b) - overLimit(a) || b.allowed - a.allowed)
  }

  #store(): LiveSecond['store'] {
    const { store, fallback } = this.#parts.stores
    const failures = this.#failures
    this.#failures = 0
    return {
      kind: store?.async === true || fallback !== undefined ? 'shared' : 'memory',
      breaker: fallback?.state ?? null,
      failures,
      latency: this.#storeLatency.take(),
      keys: store instanceof MemoryStore ? store.size : null,
    }
  }
}

function difference(now: LiveRequests, before: LiveRequests): LiveRequests {
  return {
    allowed: now.allowed - before.allowed,
    denied: now.denied - before.denied,
    degraded: now.degraded - before.degraded,
  }
}
