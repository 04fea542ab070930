import type { PolicyFigures } from '@sluice/limiter'
import type { Event, Observer } from '@sluice/limiter/events'

/** Tenths of the limit in use after a decision, and last of all: over the limit. */
const BINS = 11
/** Decisions of a second that are all looked at; of more, one in {@link ONE_IN}. */
const ALL_UNTIL = 1_000
const ONE_IN = 16

/** How full limits are when requests come: for each policy, decisions by the share of the limit in use. */
export class Fullness {
  readonly #counts: (domain: string, policy: string) => boolean
  readonly #bins = new Map<string, Map<string, number[]>>()
  #decisions = 0

  /** @param counts whether a policy is one of the rulebook's: others are left out, since clients could name them */
  constructor(counts: (domain: string, policy: string) => boolean) {
    this.#counts = counts
  }

  readonly observe: Observer = (event: Event) => {
    if (event.type !== 'decided' || event.peek || event.decision.degraded) return
    this.#decisions++
    if (this.#decisions > ALL_UNTIL && this.#decisions % ONE_IN !== 0) return
    for (const figures of event.decision.policies) {
      const bins = this.#binsOf(event.domain, figures.policy)
      if (bins !== undefined) bins[binOf(figures)]!++
    }
  }

  /** Those since all were taken last: decisions of which 0–10 %, 10–20 % … of the limit were in use, and over it. */
  take(): (domain: string, policy: string) => readonly number[] {
    const taken = new Map(this.#bins)
    this.#bins.clear()
    this.#decisions = 0
    return (domain, policy) => taken.get(domain)?.get(policy) ?? NONE
  }

  #binsOf(domain: string, policy: string): number[] | undefined {
    const known = this.#bins.get(domain)?.get(policy)
    if (known !== undefined || !this.#counts(domain, policy)) return known
    const bins = [...NONE]
    const policies = this.#bins.get(domain) ?? new Map<string, number[]>()
    this.#bins.set(domain, policies.set(policy, bins))
    return bins
  }
}

const NONE: readonly number[] = Array.from({ length: BINS }, () => 0)

function binOf({ allowed, limit, remaining }: PolicyFigures): number {
  if (!allowed || remaining === null || limit === 0) return BINS - 1
  // The request's own cost is in it, so a limit that is used up is in the last tenth.
  return Math.min(BINS - 2, Math.floor(((limit - remaining) / limit) * (BINS - 1)))
}
