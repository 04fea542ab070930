import { StoreError } from '@sluice/limiter/errors'
import type { MatchedLimit } from '@sluice/limiter/rules'
import type { DescriptorReply, DescriptorResult } from '../operations/descriptors.ts'

/** Hits of one limit, by the names that envoyproxy/ratelimit gives them. */
export interface LimitTally {
  readonly domain: string
  readonly key1: string
  readonly key2: string
  total_hits: number
  over_limit: number
  near_limit: number
  within_limit: number
  shadow_mode: number
}

/** Limits counted apart by names that the rulebook has, and by those that requests make (`detailed_metric`). */
const MOST_WRITTEN = 10_000
const MOST_OF_REQUESTS = 1_000
/** Characters of a label. */
const MOST_LABEL = 128
/** Under which limits are counted that requests bring, where there are too many. */
const OTHERS = 'others'

/** Counts hits by the names of dashboards made for envoyproxy/ratelimit. Labels are bounded, whatever clients send. */
export class RlsTallies {
  readonly limits: LimitTally[] = []
  domainsNotFound = 0
  globalShadow = 0
  readonly errors: { service_error: number; redis_error: number } = { service_error: 0, redis_error: 0 }
  readonly #byLabels = new Map<string, LimitTally>()
  /** The same by the labels of a rule, which are one list as long as it is in force: no name is made of them. */
  readonly #byRule = new WeakMap<readonly string[], LimitTally>()
  readonly #nearRatio: number
  readonly #answered: (ms: number) => void
  #ofRequests = 0

  /** @param nearRatio share of a limit from which hits are near it. @param answered is called for each answer */
  constructor(nearRatio = 0.8, answered: (ms: number) => void = () => undefined) {
    this.#nearRatio = nearRatio
    this.#answered = answered
  }

  count(domain: string, { known, results, decision }: DescriptorReply, shadow: boolean): void {
    if (!known) this.domainsNotFound++
    let over = false
    for (const result of results) {
      if (result.limit === undefined || result.limit.unlimited || result.refund) continue
      if (result.figures === undefined) continue
      over ||= !result.figures.allowed
      const { labels } = result.limit
      let tally = this.#byRule.get(labels)
      if (tally === undefined) {
        tally = this.#tallyOf(domain, result.limit)
        if (labels === result.limit.written) this.#byRule.set(labels, tally)
      }
      this.#count(tally, result)
    }
    if (shadow && over && decision.allowed) this.globalShadow++
  }

  answered(ms: number): void {
    this.#answered(ms)
  }

  failed(error: unknown): void {
    this.errors[error instanceof StoreError ? 'redis_error' : 'service_error']++
  }

  #count(tally: LimitTally, { step, figures, cost }: DescriptorResult): void {
    const { allowed, remaining, limit } = figures!
    tally.total_hits += cost
    if (!allowed) {
      tally.over_limit += cost
      if (step!.rule.role === 'shadow') tally.shadow_mode += cost
      return
    }
    tally.within_limit += cost
    const used = remaining === null ? 0 : limit - remaining
    const near = Math.floor(Math.fround(Math.fround(limit) * Math.fround(this.#nearRatio)))
    if (used > near) tally.near_limit += Math.min(cost, used - near)
  }

  #tallyOf(domain: string, { labels, written }: MatchedLimit): LimitTally {
    const isWritten = labels === written
    const known = this.#byLabels.get(nameOf(domain, labels))
    if (known !== undefined) return known
    const most = isWritten ? MOST_WRITTEN : MOST_OF_REQUESTS
    const count = isWritten ? this.limits.length - this.#ofRequests : this.#ofRequests
    if (count >= most) {
      if (!isWritten && written !== undefined)
        return this.#tallyOf(domain, { labels: written, written } as MatchedLimit)
      return this.#add('', [OTHERS])
    }
    if (!isWritten) this.#ofRequests++
    return this.#add(domain, labels)
  }

  #add(domain: string, labels: readonly string[]): LimitTally {
    const name = nameOf(domain, labels)
    const known = this.#byLabels.get(name)
    if (known !== undefined) return known
    const [key1 = '', ...deeper] = labels
    const none = { total_hits: 0, over_limit: 0, near_limit: 0, within_limit: 0, shadow_mode: 0 }
    const tally = {
      domain,
      key1: key1.slice(0, MOST_LABEL),
      key2: deeper.join('.').slice(0, MOST_LABEL),
      ...none,
    }
    this.limits.push(tally)
    this.#byLabels.set(name, tally)
    return tally
  }
}

function nameOf(domain: string, labels: readonly string[]): string {
  return [domain, ...labels.map((label) => label.slice(0, MOST_LABEL))].join('\0')
}
