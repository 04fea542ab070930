/** Instants in order, of which most come at the end. Holds those that may still matter. */
export class InstantLog {
  readonly #rate: number
  #instants: number[] = []
  /** At i: the largest of `rate · instant − rank` up to it. */
  #peaks: number[] = []
  /** Instants that were dropped, and the peak of these. */
  #dropped = 0
  #droppedPeak = Number.NEGATIVE_INFINITY

  /** @param rate units that come back in a millisecond, for `peak`; 0 where it is not used */
  constructor(rate = 0) {
    this.#rate = rate
  }

  get count(): number {
    return this.#dropped + this.#instants.length
  }

  /** Takes an instant in, and drops those before `horizon`. */
  add(instant: number, horizon: number): void {
    const instants = this.#instants
    let at = instants.length
    while (at > 0 && instants[at - 1]! > instant) at--
    instants.splice(at, 0, instant)
    for (let i = at; i < instants.length; i++) {
      const before = i === 0 ? this.#droppedPeak : this.#peaks[i - 1]!
      this.#peaks[i] = Math.max(before, this.#rate * instants[i]! - (this.#dropped + i))
    }
    if (instants.length > 4_096 && instants[instants.length >> 1]! < horizon) this.#drop(instants.length >> 1)
  }

  /** How many are later than `instant`, which does not lie before the horizon. */
  countAfter(instant: number): number {
    const instants = this.#instants
    let [low, high] = [0, instants.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (instants[middle]! > instant) high = middle
      else low = middle + 1
    }
    return instants.length - low
  }

  /** Of all intervals that end at `end`, the most instants in one, less `rate` times its length. */
  level(end: number): number {
    const peak = this.#peaks.at(-1)
    return peak === undefined ? 0 : this.count + peak - this.#rate * end
  }

  #drop(count: number): void {
    this.#droppedPeak = this.#peaks[count - 1]!
    this.#instants = this.#instants.slice(count)
    this.#peaks = this.#peaks.slice(count)
    this.#dropped += count
  }
}
