import type { Figures } from './figures.ts'
import { ceilDiv } from './integers.ts'
import type { Rule } from './rule.ts'

/**
 * How long an admitted request waits, in milliseconds: what its algorithm says (queues), or by `onLimit: delay` and `soft`.
 *
 * With u units in use after the request, and a threshold of `soft` × capacity, rounded to the nearest whole unit, the
 * request waits for u − threshold intervals of period/limit. Where units flow back continuously u has a fraction, so
 * that requests go on evenly, one each interval, whenever they came. A bucket of 10 at 1 a second and a `soft` of
 * 80 %: of ten at once eight go on at once, the ninth after 1 s, the tenth after 2 s; the eleventh is refused.
 *
 * It follows from the figures, so it is the same in every store, and nothing is kept: who gives a charge back shortens
 * the wait of those who come later.
 * @param charged whether the figures hold the charge already
 */
export function delayOf(rule: Rule, own: Figures, cost: number, charged: boolean): number {
  const { soft, plan } = rule
  if (rule.onLimit !== 'delay' || soft === undefined || plan.algorithm.traits.queues) return own.delayMs
  if (!own.allowed || cost === 0) return 0
  const used = own.limit - own.remaining + (charged ? 0 : cost)
  const past = used - Math.round(soft * own.limit)
  if (past <= 0 || plan.limit === 0) return 0
  const intervals = (count: number): number => (ceilDiv(count * plan.period, plan.limit) * plan.unit) / 1_000
  if (!plan.algorithm.traits.flows) return intervals(past)
  return (own.moreAfterMs ?? intervals(1)) + intervals(past - 1)
}
