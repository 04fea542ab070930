import type { NetworkLimit } from '@sluice/limiter/rules'
import { type Networks, networksOf } from '../limits/network-text.ts'
import { proxyPart } from '../limits/proxy-part.ts'
import { timeText } from '../limits/shape.ts'

/** A version of IP, and how a rule sees its clients. */
export interface Family {
  readonly version: 4 | 6
  /** Leading bits by which clients are told apart; none where all count together. */
  readonly bits: number | undefined
  readonly exempt: readonly string[]
}

/** Both versions, as a network rule sees them. */
export function familiesOf({ key, exempt }: NetworkLimit): readonly Family[] {
  const { v4, v6 } = networksOf(exempt) as Networks
  const part = key[0] === undefined ? undefined : proxyPart(key[0])
  const isIp = typeof part === 'object' && part.kind === 'ip'
  return [
    { version: 4, bits: isIp ? part.v4 : undefined, exempt: v4 },
    { version: 6, bits: isIp ? part.v6 : undefined, exempt: v6 },
  ]
}

const UNITS = [
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const

/** `20/second`: the rule's rate as a whole number per unit, or `undefined`. */
export function rateText(limit: number, period: number): string | undefined {
  for (const [unit, length] of UNITS) {
    const count = (limit * length) / period
    if (Number.isSafeInteger(count)) return `${count}/${unit}`
  }
  return undefined
}

/** Milliseconds after which a bucket is full again, at least a minute. */
export function fullAfter({ limit, period = 0, burst = 1 }: NetworkLimit): number {
  return Math.max(60_000, Math.ceil((burst * period) / limit))
}

/** Why a firewall has no such rate. */
export function noRate({ limit, period }: NetworkLimit): string {
  return `${limit} in ${timeText(period!)} is no whole number per second, minute, hour or day`
}

/** What a network rule says, for a comment. */
export function ruleText({ limit, period, burst, count, protocol, port }: NetworkLimit): string {
  const amount =
    period === undefined ? `${limit} ${count}` : `${limit} ${count} in ${timeText(period)}, ${burst} at once`
  return `${amount}, ${protocol} ${port.join(', ')}`
}
