import type { LivePolicy, PolicySecond, PolicySpike } from './live-second.ts'
import { overLimit } from './live-window.ts'

/** Seconds that are kept. */
const SECONDS = 900
/** Policies that are kept: about 11 kB each. */
const MOST_POLICIES = 200

/** One policy's counts, a cell for each second. */
class Ring {
  readonly domain: string
  readonly policy: string
  readonly demand = new Uint32Array(SECONDS)
  readonly admitted = new Uint32Array(SECONDS)
  readonly refused = new Uint32Array(SECONDS)
  /** The number of the last second in which it decided. */
  last = 0

  constructor({ domain, policy }: Pick<LivePolicy, 'domain' | 'policy'>) {
    this.domain = domain
    this.policy = policy
  }
}

/**
 * What each policy was asked for, admitted and refused, in each second of the last quarter of an hour, in memory of a
 * fixed size. A policy that comes when there are too many takes the place of one that has decided nothing in this time.
 */
export class PolicySeconds {
  readonly #rings = new Map<string, Map<string, Ring>>()
  readonly #ats = new Float64Array(SECONDS)
  #size = 0
  #second = 0

  /**
   * Ends a second.
   * @param at its end, in milliseconds since the epoch
   * @param policies those that decided in it
   */
  add(at: number, policies: readonly LivePolicy[]): void {
    const cell = this.#second % SECONDS
    this.#second++
    this.#ats[cell] = at
    for (const ring of this.#all()) ring.demand[cell] = ring.admitted[cell] = ring.refused[cell] = 0
    for (const policy of policies) {
      const ring = this.#ringOf(policy)
      if (ring === undefined) continue
      ring.last = this.#second
      ring.admitted[cell] = policy.allowed + policy.shadow + policy.deprioritized
      ring.refused[cell] = policy.limited
      ring.demand[cell] = policy.allowed + overLimit(policy) + policy.degraded
    }
  }

  /** The seconds of one policy, the oldest first; none where it is not kept. */
  rows(domain: string, policy: string): readonly PolicySecond[] {
    const ring = this.#rings.get(domain)?.get(policy)
    if (ring === undefined) return []
    return this.#cells().map((cell) => [
      this.#ats[cell]!,
      ring.demand[cell]!,
      ring.admitted[cell]!,
      ring.refused[cell]!,
    ])
  }

  /** Each policy that decided in this time, with its busiest second; those first that refused most. */
  spikes(): readonly PolicySpike[] {
    const cells = this.#cells()
    return this.#all()
      .filter((ring) => this.#isActive(ring))
      .map((ring) => this.#spikeOf(ring, cells))
      .sort((a, b) => b.refused - a.refused || b.demand - a.demand)
  }

  #spikeOf(ring: Ring, cells: readonly number[]): PolicySpike {
    const sum = (counts: Uint32Array): number => cells.reduce((all, cell) => all + counts[cell]!, 0)
    const peak = cells.reduce((best, cell) => (ring.demand[cell]! > ring.demand[best]! ? cell : best))
    return {
      domain: ring.domain,
      policy: ring.policy,
      demand: sum(ring.demand),
      admitted: sum(ring.admitted),
      refused: sum(ring.refused),
      peak: {
        at: this.#ats[peak]!,
        demand: ring.demand[peak]!,
        admitted: ring.admitted[peak]!,
        refused: ring.refused[peak]!,
      },
    }
  }

  /** Cells that hold a second, the oldest first. */
  #cells(): readonly number[] {
    const count = Math.min(this.#second, SECONDS)
    return Array.from({ length: count }, (_, i) => (this.#second - count + i) % SECONDS)
  }

  #isActive({ last }: Ring): boolean {
    return last > this.#second - SECONDS
  }

  #all(): readonly Ring[] {
    return [...this.#rings.values()].flatMap((rings) => [...rings.values()])
  }

  #ringOf(named: LivePolicy): Ring | undefined {
    const rings = this.#rings.get(named.domain) ?? new Map<string, Ring>()
    const known = rings.get(named.policy)
    if (known !== undefined) return known
    if (this.#size >= MOST_POLICIES && !this.#dropIdle()) return undefined
    const ring = new Ring(named)
    this.#rings.set(named.domain, rings.set(named.policy, ring))
    this.#size++
    return ring
  }

  #dropIdle(): boolean {
    const idle = this.#all().find((ring) => !this.#isActive(ring))
    if (idle === undefined) return false
    const rings = this.#rings.get(idle.domain)!
    rings.delete(idle.policy)
    if (rings.size === 0) this.#rings.delete(idle.domain)
    this.#size--
    return true
  }
}
