import { Facts } from '../identify/facts.ts'
import type { Request } from '../request.ts'
import type { Rules } from './compiled-rules.ts'
import type { Condition } from './condition.ts'
import type { DescriptorNode } from './descriptor-tree.ts'
import { type DescriptorQuery, matchDescriptors, pathThrough } from './descriptors.ts'
import type { CompiledLimit, RuleMatch } from './limit.ts'
import { replacedBy } from './match.ts'
import { type Entry, labelOf } from './stats-key.ts'

/** Why a rule applies to a request, or does not. */
export interface Explanation {
  readonly rule: string
  readonly applies: boolean
  /** `method is not POST`; empty where the rule applies. */
  readonly reason: string
  /** Which counter it charges, as the store knows it. */
  readonly key?: string
}

/**
 * Goes through every limit of a domain, in order; slower than matching, and agrees with it.
 * @example
 * for (const { rule, applies, reason } of explainRequest(rules, 'shop', { path: '/login' })) {
 *   console.log(rule, applies ? 'applies' : 'does not apply', reason)
 * }
 */
export function explainRequest(rules: Rules, domainName: string, request: Request): readonly Explanation[] {
  const domain = rules.domains.get(domainName)
  if (domain === undefined) return []
  const facts = new Facts(request, rules.setting.foldPaths)
  const results = domain.limits.map((limit) => ({ limit, answer: resultOf(limit, facts) }))
  const applied = results.flatMap(({ answer }) => (typeof answer === 'string' ? [] : [answer]))
  return results.map(({ limit: { name }, answer }) => {
    if (typeof answer === 'string') return { rule: name, applies: false, reason: answer }
    const replacing = applied.find((other) => replacedBy([other]).has(name))
    return replacing === undefined
      ? { rule: name, applies: true, reason: '', key: answer.step.key }
      : { rule: name, applies: false, reason: `${replacing.limit.name} replaces it` }
  })
}

function resultOf(limit: CompiledLimit, facts: Facts): RuleMatch | string {
  const unmet = limit.conditions.find((condition) => !condition.holds(facts))
  if (unmet !== undefined) return facts.problem ?? unmetText(unmet)
  const result = limit.match(facts, undefined)
  if (facts.problem !== undefined) return facts.problem
  if ('problem' in result) return result.problem
  if (!('skipped' in result)) return result
  return result.skipped === 'exempt' ? 'the client is exempt' : 'the request lacks a part of its key'
}

/**
 * For each descriptor of a request, what it meets; `rule` is the path of rules that its entries led through.
 * @example
 * for (const { rule, applies, reason } of explainDescriptors(rules, 'shop', descriptors)) {
 *   console.log(rule, applies ? 'applies' : 'does not apply', reason)
 * }
 */
export function explainDescriptors(
  rules: Rules,
  domainName: string,
  descriptors: readonly DescriptorQuery[],
): readonly Explanation[] {
  const tree = rules.domains.get(domainName)?.descriptors
  const { statuses, steps, problem } = matchDescriptors(rules, domainName, descriptors)
  return descriptors.map(({ entries }, i) => {
    const path = tree === undefined ? [] : pathThrough(tree, entries)
    const rule = [domainName, ...path.map(({ label }) => label)].join('.')
    const { step, limit } = statuses[i] ?? { step: -1 }
    if (step >= 0) return { rule, applies: true, reason: '', key: steps[step]!.key }
    if (problem !== undefined) return { rule, applies: false, reason: problem }
    if (tree === undefined) return { rule, applies: false, reason: 'no rules are loaded for the domain' }
    return {
      rule,
      applies: false,
      reason: limit?.unlimited ? 'it is unlimited' : reasonAgainst(path, entries),
    }
  })
}

function reasonAgainst(path: readonly DescriptorNode[], entries: readonly Entry[]): string {
  const next = entries[path.length]
  if (next !== undefined) return `entry ${path.length + 1}, ${labelOf(next)}, meets no rule`
  return path.at(-1)?.limit === undefined ? 'the rules there set no limit' : 'another limit replaces it'
}

/** `method is not POST` */
function unmetText({ what, values }: Condition): string {
  const shown = values.slice(0, 5).join(', ') + (values.length > 5 ? ', …' : '')
  return values.length === 1 ? `${what} is not ${shown}` : `${what} is none of ${shown}`
}
