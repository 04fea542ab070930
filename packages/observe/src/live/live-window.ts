import type { LatencyQuantiles } from './latency-counts.ts'
import type { LiveHistory, LivePolicy, LiveRow, LiveSecond, LiveStore } from './live-second.ts'

const ROWS = 900
const SECONDS = 60

/** The last minute in figures, of one node or of several. */
export interface LiveSummary {
  /** Seconds that it covers: fewer than 60 after a start. */
  readonly seconds: number
  readonly all: number
  readonly allowed: number
  readonly denied: number
  /** Decided without the store. */
  readonly degraded: number
  /** Of the last second in which there were answers, in milliseconds; of several nodes, the slowest. */
  readonly latency: LatencyQuantiles | null
  /** Of several nodes, the one that is worst off; absent before the first second. */
  readonly store: LiveStore | undefined
  /** Those first that refused most, then those that would have. */
  readonly policies: readonly LivePolicy[]
}

/**
 * What whoever follows `/v1/live` has seen: a quarter of an hour by second, and the last minute in full.
 * @example
 * const window = new LiveWindow()
 * window.begin(history) // the data of the first event
 * window.add(second) // of every other
 * summaryOf([window]).denied
 */
export class LiveWindow {
  rows: readonly LiveRow[] = []
  seconds: readonly LiveSecond[] = []

  begin({ rows, seconds }: LiveHistory): void {
    this.rows = rows
    this.seconds = seconds
  }

  add(second: LiveSecond): void {
    this.rows = [...this.rows.slice(1 - ROWS), rowOf(second)]
    this.seconds = [...this.seconds.slice(1 - SECONDS), second]
  }

  get last(): LiveSecond | undefined {
    return this.seconds.at(-1)
  }
}

/**
 * The last minute of several nodes as one.
 * @example
 * summaryOf([window]).policies[0]?.policy
 */
export function summaryOf(windows: readonly LiveWindow[]): LiveSummary {
  const seconds = windows.flatMap((window) => window.seconds)
  const sum = (name: 'allowed' | 'denied' | 'degraded'): number =>
    seconds.reduce((all, { requests }) => all + requests[name], 0)
  const [allowed, denied] = [sum('allowed'), sum('denied')]
  const latencies = windows
    .map((window) => window.seconds.findLast(({ latency }) => latency !== null)?.latency)
    .filter((latency) => latency != null)
  const stores = windows.flatMap(({ last }) => (last === undefined ? [] : [last.store]))
  return {
    seconds: Math.max(0, ...windows.map((window) => window.seconds.length)),
    all: allowed + denied,
    allowed,
    denied,
    degraded: sum('degraded'),
    latency: latencies.sort((a, b) => b.p99 - a.p99)[0] ?? null,
    store: stores.sort((a, b) => illness(b) - illness(a))[0],
    policies: policiesOf(seconds),
  }
}

/**
 * Names a policy among those of all domains.
 * @example
 * policyId({ domain: 'shop', policy: 'login' }) // '["shop","login"]'
 */
export function policyId({ domain, policy }: Pick<LivePolicy, 'domain' | 'policy'>): string {
  return JSON.stringify([domain, policy])
}

/**
 * Decisions over the limit: refusals, and what would have been some in shadow mode or at low priority.
 * @example
 * overLimit({ limited: 3, shadow: 0, deprioritized: 0 }) // 3
 */
export function overLimit(policy: Pick<LivePolicy, 'limited' | 'shadow' | 'deprioritized'>): number {
  return policy.limited + policy.shadow + policy.deprioritized
}

/**
 * All decisions of a policy.
 * @example
 * decisionsOf(summaryOf([window]).policies[0]!)
 */
export function decisionsOf(policy: LivePolicy): number {
  return policy.allowed + overLimit(policy) + policy.degraded
}

/** One second as a row. */
function rowOf({ at, requests, latency }: Pick<LiveSecond, 'at' | 'requests' | 'latency'>): LiveRow {
  const { p50, p95, p99 } = latency ?? { p50: null, p95: null, p99: null }
  return [at, requests.allowed, requests.denied, requests.degraded, p50, p95, p99]
}

function policiesOf(seconds: readonly LiveSecond[]): readonly LivePolicy[] {
  const sums = new Map<string, LivePolicy>()
  for (const policy of seconds.flatMap(({ policies }) => policies)) {
    const id = policyId(policy)
    const before = sums.get(id)
    sums.set(id, before === undefined ? policy : sumOf(before, policy))
  }
  return [...sums.values()].sort(
    (a, b) => b.limited - a.limited || overLimit(b) - overLimit(a) || decisionsOf(b) - decisionsOf(a),
  )
}

function sumOf(a: LivePolicy, b: LivePolicy): LivePolicy {
  return {
    domain: a.domain,
    policy: a.policy,
    allowed: a.allowed + b.allowed,
    limited: a.limited + b.limited,
    shadow: a.shadow + b.shadow,
    deprioritized: a.deprioritized + b.deprioritized,
    degraded: a.degraded + b.degraded,
    fullness: a.fullness.map((count, i) => count + b.fullness[i]!),
  }
}

function illness({ breaker, failures }: LiveStore): number {
  return (breaker === null || breaker === 'closed' ? 0 : 1_000_000_000) + failures
}
