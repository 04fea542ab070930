import type { AdmissionBound } from './admission-bound.ts'
import { AdmissionCount } from './admission-count.ts'
import type { TimedAnswer } from './answer.ts'
import type { Arrival } from './arrivals.ts'
import type { LoadSender } from './http-sender.ts'
import { type Latency, LatencyRecorder } from './latency.ts'
import { openLoop } from './open-loop.ts'
import type { SentRequest } from './request-template.ts'

/** Keys of which admissions are counted, at about 1 KB each; requests of more are sent all the same. */
const MOST_KEYS = 200_000

export interface RunLoadOptions {
  readonly arrivals: Iterable<Arrival> | AsyncIterable<Arrival>
  readonly request: (key: string) => SentRequest
  /** The key of an arrival that names none. */
  readonly key: () => string
  readonly sender: LoadSender
  /** What the limit admits; absent: admissions are not checked. */
  readonly bound?: AdmissionBound | undefined
  /** Most requests under way at once; others are not sent, and counted. */
  readonly maxInFlight: number
  readonly signal?: AbortSignal | undefined
}

export interface LoadFigures {
  /** How long requests were sent for, and what came of them. */
  readonly seconds: number
  readonly sent: number
  /** Not sent, because too many were under way. */
  readonly unsent: number
  readonly admitted: number
  readonly refused: number
  readonly failed: number
  /** Under way when the run was ended. */
  readonly unanswered: number
  /** How many answers had each status; 0 is none at all. */
  readonly statuses: Readonly<Record<string, number>>
  /** Answers a second. */
  readonly throughput: number
  readonly latencyMs?: Latency | undefined
  /** The longest that this process was behind its own schedule, in ms. */
  readonly lateMs: number
  readonly overAdmission?: OverAdmission | undefined
  /** Requests of which the admission is not checked, since there were too many keys. */
  readonly unchecked: number
  /** Refusals that are proved wrong. */
  readonly wrongRefusals: number
  readonly refusalsWithoutWait: number
}

/** The worst key. */
export interface OverAdmission {
  readonly key: string
  readonly atLeast: number
  readonly atMost: number
}

/**
 * Sends requests by a schedule, and holds each answer against the bound while it runs.
 * @example
 * const { latencyMs, overAdmission } = await runLoad({
 *   arrivals: arrivalsOf({ kind: 'poisson', rate: 100 }, 10_000, Math.random),
 *   request: requestMaker({ url }),
 *   key: () => '',
 *   sender,
 *   bound: statedBound(10, 2_000),
 *   maxInFlight: 10_000,
 * })
 */
export async function runLoad(options: RunLoadOptions): Promise<LoadFigures> {
  const { sender, maxInFlight, signal } = options
  const tally = new LoadTally(options.bound)
  let inFlight = 0
  let allAnswered = (): void => undefined
  const start = performance.now()
  const lateMs = await openLoop(
    options.arrivals,
    ({ key = options.key(), request = options.request(key) }, due) => {
      if (inFlight === maxInFlight) return void tally.unsent++
      inFlight++
      const count = tally.countOf(key)
      count?.asking()
      void sender.send(request).then((answer) => {
        tally.add(answer, due, count)
        if (--inFlight === 0) allAnswered()
      })
    },
    signal,
  )
  const elapsedMs = performance.now() - start
  if (inFlight > 0 && !signal?.aborted) {
    await new Promise<void>((resolve) => {
      allAnswered = resolve
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  return tally.figures(elapsedMs, lateMs, inFlight)
}

class LoadTally {
  unsent = 0
  #unchecked = 0
  readonly #bound: AdmissionBound | undefined
  readonly #counts = new Map<string, AdmissionCount>()
  readonly #latency = new LatencyRecorder()
  readonly #statuses = new Map<number, number>()
  readonly #fates = { admitted: 0, refused: 0, failed: 0 }
  #withoutWait = 0

  constructor(bound: AdmissionBound | undefined) {
    this.#bound = bound
  }

  countOf(key: string): AdmissionCount | undefined {
    if (this.#bound === undefined) return undefined
    let count = this.#counts.get(key)
    if (count === undefined && this.#counts.size < MOST_KEYS) {
      count = new AdmissionCount(this.#bound)
      this.#counts.set(key, count)
    }
    if (count === undefined) this.#unchecked++
    return count
  }

  add(answer: TimedAnswer, due: number, count: AdmissionCount | undefined): void {
    const { fate, status, received, retryAfterMs } = answer
    this.#fates[fate]++
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    if (fate !== 'failed') this.#latency.record(received - due)
    if (fate === 'refused' && retryAfterMs === undefined) this.#withoutWait++
    count?.[fate](answer)
  }

  figures(elapsedMs: number, lateMs: number, unanswered: number): LoadFigures {
    const { admitted, refused, failed } = this.#fates
    const seconds = elapsedMs / 1_000
    return {
      seconds,
      sent: admitted + refused + failed + unanswered,
      unsent: this.unsent,
      ...this.#fates,
      unanswered,
      statuses: Object.fromEntries([...this.#statuses].sort(([a], [b]) => a - b)),
      throughput: (admitted + refused) / seconds,
      latencyMs: this.#latency.summary(),
      lateMs,
      overAdmission: this.#worst(),
      unchecked: this.#unchecked,
      wrongRefusals: [...this.#counts.values()].reduce((sum, { wrongRefusals }) => sum + wrongRefusals, 0),
      refusalsWithoutWait: this.#withoutWait,
    }
  }

  #worst(): OverAdmission | undefined {
    let worst: OverAdmission | undefined
    for (const [key, { overAtLeast: atLeast, overAtMost: atMost }] of this.#counts)
      if (
        worst === undefined ||
        atLeast > worst.atLeast ||
        (atLeast === worst.atLeast && atMost > worst.atMost)
      )
        worst = { key, atLeast, atMost }
    return worst
  }
}
