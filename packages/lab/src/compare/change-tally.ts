import type { Step } from '@sluice/limiter/decide'
import { summed, topOf } from '../simulate/tally.ts'
import type { Change } from './comparison.ts'

const TOP = 10
/** Most keys and routes that are counted one by one. */
const MOST_NAMES = 1_000_000
const MINUTE = 60_000_000
/** Most minutes that are counted one by one: those of ten years. */
const MOST_MINUTES = 5_256_000

/** Counts of requests that are decided otherwise. */
export interface ChangeCounts {
  readonly requests: number
  /** Microseconds since the epoch; −1: none. */
  readonly first: number
  readonly last: number
  /** Minutes with such requests, in their order, and how many each has. */
  readonly minutes: readonly number[]
  readonly inMinute: readonly number[]
  readonly policies: ReadonlyMap<string, number>
  /** Of each policy, by key. */
  readonly keys: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly routes: ReadonlyMap<string, number>
}

/** Counts requests that are decided otherwise. They must come in the order of their times. */
export class ChangeTally {
  #requests = 0
  #first = -1
  #last = -1
  readonly #minutes: number[] = []
  readonly #inMinute: number[] = []
  readonly #policies = new Map<string, number>()
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

  get counts(): ChangeCounts {
    return {
      requests: this.#requests,
      first: this.#first,
      last: this.#last,
      minutes: this.#minutes,
      inMinute: this.#inMinute,
      policies: this.#policies,
      keys: this.#keys,
      routes: this.#routes,
    }
  }

  #countMinute(minute: number): void {
    const last = this.#minutes.length - 1
    if (this.#minutes[last] === minute) this.#inMinute[last]!++
    else if (last < MOST_MINUTES) {
      this.#minutes.push(minute)
      this.#inMinute.push(1)
    }
  }

  #count(counts: Map<string, number>, name: string): void {
    const before = counts.get(name)
    if (before === undefined && ++this.#names > MOST_NAMES) return
    counts.set(name, (before ?? 0) + 1)
  }
}

/** What several have counted, together. @param requests all there were */
export function changeOf(all: readonly ChangeCounts[], requests: number): Change {
  const found = all.filter((counts) => counts.requests > 0)
  const changed = found.reduce((sum, counts) => sum + counts.requests, 0)
  const policies = summed(found.map((counts) => counts.policies))
  const keys = [...policies.keys()].map(
    (policy) => [policy, summed(found.flatMap((counts) => counts.keys.get(policy) ?? []))] as const,
  )
  return {
    requests: changed,
    share: requests === 0 ? 0 : changed / requests,
    keys: keys.reduce((sum, [, { size }]) => sum + size, 0),
    first: timeText(Math.min(...found.map(({ first }) => first))),
    last: timeText(Math.max(...found.map(({ last }) => last))),
    worst: worstMinute(found),
    byPolicy: topOf(policies, policies.size).map(([policy, times]) => ({ policy, requests: times })),
    topKeys: keys
      .flatMap(([policy, counts]) =>
        topOf(counts, TOP).map(([key, times]) => ({ policy, key, requests: times })),
      )
      .sort((a, b) => b.requests - a.requests || (a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0))
      .slice(0, TOP),
    topRoutes: topOf(summed(found.map((counts) => counts.routes)), TOP).map(([route, times]) => ({
      route,
      requests: times,
    })),
  }
}

/** The minute with the most; of equal ones, the first. */
function worstMinute(all: readonly ChangeCounts[]): Change['worst'] {
  const sums = summed(
    all.map(({ minutes, inMinute }) => new Map(minutes.map((minute, i) => [minute, inMinute[i]!]))),
  )
  let worst: readonly [number, number] | undefined
  for (const entry of sums) {
    if (worst === undefined || entry[1] > worst[1] || (entry[1] === worst[1] && entry[0] < worst[0]))
      worst = entry
  }
  return worst === undefined ? null : { minute: timeText(worst[0] * MINUTE)!, requests: worst[1] }
}

function timeText(at: number): string | null {
  return Number.isFinite(at) ? new Date(at / 1_000).toISOString() : null
}
