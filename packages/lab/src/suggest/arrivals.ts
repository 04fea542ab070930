import { LabError } from '../lab-error.ts'

const CHUNK = 1 << 20
/** Most requests that are held: about 20 bytes each. */
const MOST_REQUESTS = 30_000_000

/** When the requests of each key came: all that a choice of limits needs of a log. */
export class Arrivals {
  /** Of each request, in the order of times. */
  #keys: Int32Array[] = []
  #at: Float64Array[] = []
  #duration: Float64Array[] = []
  #hasDurations = false
  #count = 0

  /** @param at microseconds since the epoch @param duration microseconds; below 0: not known */
  add(key: number, at: number, duration: number): void {
    const within = this.#count % CHUNK
    if (within === 0) this.#grow()
    this.#keys.at(-1)![within] = key
    this.#at.at(-1)![within] = at
    if (duration >= 0 && !this.#hasDurations) this.#startDurations()
    if (this.#hasDurations) this.#duration.at(-1)![within] = duration
    this.#count++
  }

  /** The requests by key. What was added is given away. */
  byKey(keys: number): KeyArrivals {
    const ends = new Int32Array(keys + 1)
    this.#each((key) => {
      ends[key + 1]!++
    })
    for (let key = 0; key < keys; key++) ends[key + 1]! += ends[key]!
    const next = ends.slice(0, keys)
    const at = new Float64Array(this.#count)
    const duration = this.#hasDurations ? new Float64Array(this.#count) : undefined
    this.#each((key, time, took) => {
      const place = next[key]!++
      at[place] = time
      if (duration !== undefined) duration[place] = took
    })
    this.#keys = []
    this.#at = []
    this.#duration = []
    return { keys, count: this.#count, ends, at, duration }
  }

  #grow(): void {
    if (this.#count >= MOST_REQUESTS) {
      throw new LabError(
        `there are more than ${MOST_REQUESTS.toLocaleString('en-US')} requests to choose from: name fewer files, or say which requests count`,
      )
    }
    this.#keys.push(new Int32Array(CHUNK))
    this.#at.push(new Float64Array(CHUNK))
    if (this.#hasDurations) this.#duration.push(new Float64Array(CHUNK).fill(-1))
  }

  #startDurations(): void {
    this.#hasDurations = true
    this.#duration = this.#at.map(() => new Float64Array(CHUNK).fill(-1))
  }

  #each(take: (key: number, at: number, duration: number) => void): void {
    for (let i = 0; i < this.#count; i++) {
      const chunk = (i / CHUNK) | 0
      const within = i % CHUNK
      take(this.#keys[chunk]![within]!, this.#at[chunk]![within]!, this.#duration[chunk]?.[within] ?? -1)
    }
  }
}

/** Requests by key: those of key k stand from `ends[k]` to `ends[k + 1]`, in the order of times. */
export interface KeyArrivals {
  readonly keys: number
  /** Of requests. */
  readonly count: number
  readonly ends: Int32Array
  /** Microseconds since the epoch. */
  readonly at: Float64Array
  /** Microseconds; below 0: not known. Absent where the log never says. */
  readonly duration: Float64Array | undefined
}

/** The most requests of one key within any `window` microseconds, for each key. */
export function peaksOf({ keys, ends, at }: KeyArrivals, window: number): Int32Array {
  const peaks = new Int32Array(keys)
  for (let key = 0; key < keys; key++) {
    let first = ends[key]!
    let peak = 0
    for (let i = first; i < ends[key + 1]!; i++) {
      while (at[i]! - at[first]! >= window) first++
      peak = Math.max(peak, i - first + 1)
    }
    peaks[key] = peak
  }
  return peaks
}

/** When the first and the last request came, as in ISO 8601. */
export function spanOfArrivals({ at }: KeyArrivals): [string | null, string | null] {
  if (at.length === 0) return [null, null]
  let [first, last] = [at[0]!, at[0]!]
  for (const time of at) {
    if (time < first) first = time
    if (time > last) last = time
  }
  return [new Date(first / 1_000).toISOString(), new Date(last / 1_000).toISOString()]
}
