import { bindingStep, type Decision } from '@sluice/limiter/decide'
import { type Event, type Observer, observerOf } from '@sluice/limiter/events'

/** Lines of one policy in a second, and of all policies. */
const MOST_OF_POLICY = 10
const MOST_LINES = 100
/** Policies that the line at the end names. */
const MOST_NAMED = 10
/** Characters of a key. */
const MOST_KEY = 256
/** Of policies that the rulebook does not have: those that requests bring themselves. */
const OTHERS = 'others'

/** What is written to: a log of pino, or one that takes the same. */
export interface RefusalLines {
  info(fields: object, message: string): void
}

export interface RefusalLogParts {
  readonly log: RefusalLines
  /** A key as the log shows it. */
  readonly showKey: (key: string) => string
  /** Whether a policy is one of the rulebook's. */
  readonly counts: (domain: string, policy: string) => boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface PolicyCount {
  readonly domain: string
  readonly policy: string
  refusals: number
}

/**
 * Writes refusals to the log: of each second the first ten of a policy, a hundred in all, and where there were more, one
 * line with the exact count, so that an attack cannot fill the log.
 * @example
 * add(new RefusalLog({ log, showKey: keyShown('hashed'), counts, now: Date.now }).observe)
 */
export class RefusalLog {
  readonly #parts: RefusalLogParts
  readonly #byName = new Map<string, PolicyCount>()
  #second = Number.NaN
  #refusals = 0
  #written = 0

  constructor(parts: RefusalLogParts) {
    this.#parts = parts
  }

  readonly observe: Observer = observerOf(['decided'], (event: Event) => {
    if (event.type !== 'decided' || event.peek || event.decision.allowed) return
    this.tick()
    this.#refusals++
    const count = this.#countOf(event)
    count.refusals++
    if (count.refusals > MOST_OF_POLICY || this.#written >= MOST_LINES) return
    this.#written++
    this.#write(count, event.decision)
  })

  /** Ends the second, if it is over: whoever runs the service calls it every second. */
  tick(): void {
    const second = Math.floor(this.#parts.now() / 1_000)
    if (second === this.#second) return
    this.end()
    this.#second = second
  }

  /** Writes what is still to be said of the second. */
  end(): void {
    const [refusals, written] = [this.#refusals, this.#written]
    if (refusals > written) {
      const policies = [...this.#byName.values()]
        .sort((a, b) => b.refusals - a.refusals)
        .slice(0, MOST_NAMED)
        .map((count) => ({ ...count }))
      this.#parts.log.info(
        { refusals, written, policies },
        'more requests were refused in this second than are written',
      )
    }
    this.#byName.clear()
    this.#refusals = 0
    this.#written = 0
  }

  #countOf({ domain, decision: { policy } }: Extract<Event, { type: 'decided' }>): PolicyCount {
    const reported = this.#parts.counts(domain, policy) ? policy : OTHERS
    const name = `${domain}\0${reported}`
    const count = this.#byName.get(name) ?? { domain, policy: reported, refusals: 0 }
    this.#byName.set(name, count)
    return count
  }

  #write({ domain, policy }: PolicyCount, decision: Decision): void {
    const { log, showKey } = this.#parts
    const step = bindingStep(decision)
    const { limit, remaining, retryAfterMs, degraded, blocked } = decision
    log.info(
      {
        domain,
        policy,
        algorithm: step?.rule.plan.algorithm.name,
        key: step === undefined ? undefined : showKey(step.key).slice(0, MOST_KEY),
        limit,
        remaining,
        retryAfterMs,
        ...(degraded && { degraded }),
        ...(blocked && { blocked }),
      },
      'refused',
    )
  }
}
