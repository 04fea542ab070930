/** Time in which half of an older demand is forgotten: reports come every 5 s, so that two of them count for most. */
const HALF_LIFE_MS = 3_000
/** Reports that come faster than that are counted together. */
const LEAST_MS = 1_000
/** Of a client's own numbers no more is believed. */
const MOST_REQUESTS = 1e12

/** How many requests a proxy wants to let through a bucket, admitted or not, as it reported. Times are milliseconds. */
export class Demand {
  #perSecond: number | undefined
  #since: number
  #requests = 0

  /** @param elapsedMs what the first report counts; 0 for a bucket that is new */
  constructor(now: number, requests: number, elapsedMs: number) {
    this.#since = now
    if (elapsedMs > 0) this.#perSecond = (bounded(requests) * 1_000) / Math.max(elapsedMs, LEAST_MS)
  }

  /** Requests a second; `undefined` while there is only the report that a bucket is new. */
  get perSecond(): number | undefined {
    return this.#perSecond
  }

  /** A further report. The time is taken here: proxies cut theirs to whole seconds. */
  report(now: number, requests: number): void {
    this.#requests += bounded(requests)
    const elapsed = now - this.#since
    if (elapsed < LEAST_MS) return
    const latest = (this.#requests * 1_000) / elapsed
    const kept = this.#perSecond === undefined ? 0 : 0.5 ** (elapsed / HALF_LIFE_MS)
    this.#perSecond = kept * (this.#perSecond ?? 0) + (1 - kept) * latest
    this.#since = now
    this.#requests = 0
  }
}

function bounded(requests: number): number {
  return requests > 0 ? Math.min(requests, MOST_REQUESTS) : 0
}
