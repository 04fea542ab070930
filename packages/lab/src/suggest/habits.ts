import { type LineFields, PLACE } from '../traffic/line-fields.ts'
import type { KeyArrivals } from './arrivals.ts'

const QUESTION_MARK = 63

/** What is noted of each key while a log is read: how it behaves, beside when it comes. */
export class Habits {
  #paths = new Int32Array(1_024)
  /** 0: no path yet, 1: one, 2: several. */
  #spread = new Uint8Array(1_024)
  #referers = new Uint8Array(1_024)
  #anyReferer = false

  note(key: number, { bytes, from, to }: LineFields): void {
    if (key >= this.#paths.length) this.#grow(key)
    const start = from[PLACE.target]!
    if (start >= 0 && this.#spread[key]! < 2) this.#notePath(key, bytes, start, to[PLACE.target]!)
    if (from[PLACE.referer]! < 0) return
    this.#referers[key] = 1
    this.#anyReferer = true
  }

  /** Why a key looks like a machine; empty where it does not. Reasons, and no verdict. */
  reasons(key: number, { ends, at }: KeyArrivals): string[] {
    const [start, end] = [ends[key]!, ends[key + 1]!]
    const requests = end - start
    const reasons: string[] = []
    const even = evenness(at.subarray(start, end))
    if (even !== undefined) reasons.push(even)
    if (requests >= LEAST_REQUESTS && this.#spread[key] === 1) reasons.push('one path only')
    if (requests >= LEAST_REQUESTS && this.#anyReferer && this.#referers[key] !== 1)
      reasons.push('no referer')
    return reasons
  }

  #notePath(key: number, bytes: Buffer, from: number, to: number): void {
    let hash = 1
    for (let i = from; i < to && bytes[i] !== QUESTION_MARK; i++)
      hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
    if (this.#spread[key] === 0) {
      this.#spread[key] = 1
      this.#paths[key] = hash
    } else if (this.#paths[key] !== hash) this.#spread[key] = 2
  }

  #grow(key: number): void {
    const size = Math.max(key + 1, this.#paths.length * 2)
    const [paths, spread, referers] = [new Int32Array(size), new Uint8Array(size), new Uint8Array(size)]
    paths.set(this.#paths)
    spread.set(this.#spread)
    referers.set(this.#referers)
    this.#paths = paths
    this.#spread = spread
    this.#referers = referers
  }
}

const LEAST_REQUESTS = 10
const LEAST_GAPS = 20
/** Of people the gaps vary by more than their mean. */
const MOST_VARIATION = 0.25

/** Whether requests come at even intervals, and at which. */
function evenness(at: Float64Array): string | undefined {
  const gaps = at.length - 1
  if (gaps < LEAST_GAPS) return undefined
  const mean = (at[gaps]! - at[0]!) / gaps
  if (mean === 0) return undefined
  let squares = 0
  for (let i = 1; i <= gaps; i++) squares += (at[i]! - at[i - 1]! - mean) ** 2
  const variation = Math.sqrt(squares / gaps) / mean
  if (variation > MOST_VARIATION) return undefined
  return `evenly spaced: every ${(mean / 1_000_000).toPrecision(3)} s, give or take ${Math.round(variation * 100)} %`
}
