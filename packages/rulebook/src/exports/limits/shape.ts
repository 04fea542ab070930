import { algorithms } from '@sluice/limiter/algorithms'
import type { Limit, Quota } from '@sluice/limiter/rules'
import { TICKS_PER_MS, ticksOf } from '@sluice/limiter/time'

/** How an algorithm counts, as far as another program could do it too. */
type Kind =
  /** A level that drains evenly, and refuses what does not fit. */
  | 'bucket'
  /** The same, and holds requests back. */
  | 'queue'
  /** A count that begins again with each window. */
  | 'window'
  /** Two counts, of which the earlier one fades. */
  | 'sliding'
  /** The time of every request. */
  | 'log'
  /** What is in use at one time. */
  | 'slots'

function kindOf({ algorithm }: Limit): Kind {
  const { holds, queues, flows, aligned, ends } = algorithms[algorithm].traits
  if (holds) return 'slots'
  if (queues) return 'queue'
  if (flows) return 'bucket'
  if (!aligned) return 'log'
  return ends ? 'window' : 'sliding'
}

/** The figures of a limit. */
export interface Shape {
  readonly kind: Kind
  readonly limit: number
  /** Milliseconds. */
  readonly period: number
  /** How many at once. */
  readonly burst: number
}

/** The shape of a limit with one quota, whose period is no calendar's. */
export function shapeOf(limit: Limit): Shape {
  const { limit: count, period, burst = limit.burst ?? count } = limit.limit as Quota
  const kind = kindOf(limit)
  return {
    kind,
    limit: count,
    period: ticksOf(period as number | string) / TICKS_PER_MS,
    burst: kind === 'bucket' || kind === 'queue' ? burst : count,
  }
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const

/** `60s` as `1m`, as proxies read it too: whole milliseconds, rounded up. */
export function timeText(ms: number): string {
  const whole = Math.ceil(ms)
  const [size, unit] = UNITS.find(([each]) => whole % each === 0) ?? [1, 'ms']
  return `${whole / size}${unit}`
}

/** A figure in running text: at most three digits behind the point. */
export function figure(value: number): string {
  return String(Number(value.toFixed(3)))
}

/** What a rule says, for a comment: `10 in 1s, 20 at once`. */
export function shapeText({ kind, limit, period, burst }: Shape): string {
  if (kind === 'slots') return `${limit} at one time`
  return `${limit} in ${timeText(period)}${kind === 'bucket' || kind === 'queue' ? `, ${burst} at once` : ''}`
}

/** Of a bucket that stands for fixed windows. */
export function bucketForWindow({ limit, period }: Shape): string {
  return `it is a bucket that refills evenly, not a window that begins again: ${limit} at once and ${limit} in each ${timeText(period)} as the rule says, up to ${2 * limit - 1} within ${timeText(period)} after a pause, where the rule admits ${limit} in a window, and ${2 * limit} around the end of one`
}
