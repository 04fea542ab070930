import type { Clock, Decision } from '@sluice/limiter'

/** Destinations that are counted apart; others count together. */
const MOST_DESTINATIONS = 1_000
const OTHERS = 'others'
const LOG_EVERY_MS = 60_000

/** What was counted of one destination. */
export interface DestinationCounts {
  /** Calls that wait now. */
  readonly waiting: number
  /** Calls that have waited and were then sent. */
  readonly waited: number
  /** Milliseconds that they waited, together. */
  readonly waitedMs: number
  readonly sent: number
  /** Calls that were refused here. */
  readonly refused: number
  /** Pauses that answers asked for. */
  readonly paused: number
  /** What the last decision left, by policy. */
  readonly left: Readonly<Record<string, number>>
}

interface Counts {
  waiting: number
  waited: number
  waitedMs: number
  sent: number
  refused: number
  paused: number
  last: Decision | undefined
  /** Refused since the last line of the log, and when that was. */
  unlogged: number
  loggedAt: number
}

/** Counts by destination, and a line a minute where calls are refused. */
export class CallCounters {
  readonly #clock: Clock
  readonly #log: ((line: string) => void) | undefined
  readonly #counts = new Map<string, Counts>()

  constructor(clock: Clock, log: ((line: string) => void) | undefined) {
    this.#clock = clock
    this.#log = log
  }

  all(): Readonly<Record<string, DestinationCounts>> {
    return Object.fromEntries(
      [...this.#counts].map(([name, { last, unlogged: _, loggedAt: _at, ...counts }]) => {
        const left = (last?.policies ?? []).map(({ policy, remaining }) => [policy, remaining ?? 0] as const)
        return [
          name,
          {
            ...counts,
            left: Object.fromEntries(left.filter(([policy]) => policy !== 'turn' && policy !== 'pause')),
          },
        ]
      }),
    )
  }

  waiting(destination: string, change: 1 | -1): void {
    this.#of(destination).waiting += change
  }

  waited(destination: string, ms: number): void {
    const counts = this.#of(destination)
    counts.waited++
    counts.waitedMs += ms
  }

  sent(destination: string, decision: Decision | undefined): void {
    const counts = this.#of(destination)
    counts.sent++
    counts.last = decision
  }

  paused(destination: string): void {
    this.#of(destination).paused++
  }

  refused(destination: string, reason: string): void {
    const counts = this.#of(destination)
    counts.refused++
    if (this.#log === undefined) return
    counts.unlogged++
    const now = this.#clock.now() / 1_000
    if (now - counts.loggedAt < LOG_EVERY_MS) return
    this.#log(
      `${destination}: ${counts.unlogged} calls were not sent since the last such line; the last: ${reason}`,
    )
    counts.loggedAt = now
    counts.unlogged = 0
  }

  #of(destination: string): Counts {
    const known = this.#counts.get(destination)
    if (known !== undefined) return known
    if (this.#counts.size >= MOST_DESTINATIONS && destination !== OTHERS) return this.#of(OTHERS)
    const counts: Counts = {
      waiting: 0,
      waited: 0,
      waitedMs: 0,
      sent: 0,
      refused: 0,
      paused: 0,
      last: undefined,
      unlogged: 0,
      loggedAt: Number.NEGATIVE_INFINITY,
    }
    this.#counts.set(destination, counts)
    return counts
  }
}
