import type { Step } from '@sluice/limiter/decide'
import { topOf } from '../simulate/tally.ts'
import type { Change } from './comparison.ts'

const TOP = 10
/** Most keys and routes that are counted one by one. */
const MOST_NAMES = 1_000_000
const MINUTE = 60_000_000

/** Counts requests whose fate differs. They must come in the order of their times. */
export class ChangeTally {
  #requests = 0
  #first = -1
  #last = -1
  #minute = -1
  #inMinute = 0
  #worst = -1
  #inWorst = 0
  readonly #policies = new Map<string, number>()
  /** Of each policy, by key. */
  readonly #keys = new Map<string, Map<string, number>>()
  readonly #routes = new Map<string, number>()
  #names = 0

  /** @param refusedBy the step that refused, by the rules that did @param at microseconds since the epoch */
  add({ rule: { name }, key }: Step, route: string, at: number): void {
    this.#requests++
    if (this.#first < 0) this.#first = at
    this.#last = at
    this.#countMinute(Math.floor(at / MINUTE))
    this.#policies.set(name, (this.#policies.get(name) ?? 0) + 1)
    let keys = this.#keys.get(name)
    if (keys === undefined) {
      keys = new Map()
      this.#keys.set(name, keys)
    }
    this.#count(keys, key)
    this.#count(this.#routes, route)
  }

  /** @param requests all there were */
  report(requests: number): Change {
    const keys = [...this.#keys].flatMap(([policy, counts]) =>
      topOf(counts, TOP).map(([key, times]) => ({ policy, key, requests: times })),
    )
    keys.sort((a, b) => b.requests - a.requests)
    return {
      requests: this.#requests,
      share: requests === 0 ? 0 : this.#requests / requests,
      keys: [...this.#keys.values()].reduce((sum, { size }) => sum + size, 0),
      first: timeText(this.#first),
      last: timeText(this.#last),
      worst: this.#worst < 0 ? null : { minute: timeText(this.#worst * MINUTE)!, requests: this.#inWorst },
      byPolicy: topOf(this.#policies, this.#policies.size).map(([policy, times]) => ({
        policy,
        requests: times,
      })),
      topKeys: keys.slice(0, TOP),
      topRoutes: topOf(this.#routes, TOP).map(([route, times]) => ({ route, requests: times })),
    }
  }

  #countMinute(minute: number): void {
    if (minute !== this.#minute) this.#inMinute = 0
    this.#minute = minute
    this.#inMinute++
    if (this.#inMinute <= this.#inWorst) return
    this.#worst = minute
    this.#inWorst = this.#inMinute
  }

  #count(counts: Map<string, number>, name: string): void {
    const before = counts.get(name)
    if (before === undefined && ++this.#names > MOST_NAMES) return
    counts.set(name, (before ?? 0) + 1)
  }
}

function timeText(at: number): string | null {
  return at < 0 ? null : new Date(at / 1_000).toISOString()
}
