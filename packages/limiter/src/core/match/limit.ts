import { planOf } from '../decide/algorithms.ts'
import type { Rule } from '../decide/rule.ts'
import type { Step } from '../decide/step.ts'
import { ConfigError } from '../errors.ts'
import type { Facts } from '../identify/facts.ts'
import { type Params, type Part, parsePart } from '../identify/key-part.ts'
import { escaped, hashedPart, joinParts, keyPart, MISSING } from '../identify/key-text.ts'
import type { Hash } from '../identify/keyed-hash.ts'
import { assignErrors } from './assign.ts'
import { type Condition, conditionsOf, globsOf } from './condition.ts'
import { costOf } from './cost.ts'
import type { Limit, PlanQuota, Quota } from './domain.ts'
import { fits, type Glob } from './glob.ts'
import { keyLookup } from './key-lookup.ts'
import { type RuleMaker, stepOf } from './make-rule.ts'

/** What compiling needs to know beside the rule. */
export interface Setting {
  readonly hash: Hash
  readonly foldPaths: boolean
  readonly calendarMonths: boolean
  readonly ruleFor: RuleMaker
}

/** A limit made ready for matching. */
export interface CompiledLimit {
  readonly name: string
  readonly conditions: readonly Condition[]
  readonly replaces: readonly string[]
  /** For requests that no plan or override has another rule for. */
  readonly rule: Rule
  /** Every rule that the limit may go by: its own, and those of plans and overrides. */
  readonly rules: readonly Rule[]
  /** What the limit asks of a request that meets its conditions. */
  readonly match: (facts: Facts, givenCost: number | undefined) => MatchResult
}

type MatchResult = RuleMatch | { readonly skipped: 'missing' | 'exempt' } | { readonly problem: string }

/** A limit that applies to a request, and its step. */
export interface RuleMatch {
  readonly limit: CompiledLimit
  readonly step: Step
}

const NO_PARAMS: Params = new Map()
const EXEMPT = { skipped: 'exempt' } as const
const LACKING = { skipped: 'missing' } as const

/** @throws ConfigError for a limit that cannot mean anything. */
export function compileLimit(limit: Limit, domain: string, setting: Setting): CompiledLimit {
  const { name, when = {}, onMissingKey } = limit
  if (!/^[ -~]{1,64}$/.test(name)) throw new ConfigError('a name must be 1 to 64 printable ASCII characters')
  const [unassignable] = assignErrors(limit)
  if (unassignable !== undefined) throw unassignable
  const globs = globsOf(when, setting.foldPaths)
  const parts = limit.key.map((text) => parsePart(text, setting.foldPaths))
  const openings = parts.some(({ kind }) => kind === 'param') ? globs : []
  const exempt = keyLookup(
    limit.exempt.map((text) => [text, true] as const),
    parts,
  )
  const cost = costOf(limit.cost)
  const costFrom = typeof limit.cost === 'string' ? 'measure' : limit.cost === 1 ? undefined : 'rule'
  const { rule, rules, ruleFor } = rulesOf(limit, domain, parts, setting)
  const compiled: CompiledLimit = {
    name,
    conditions: conditionsOf(when, globs),
    replaces: limit.replaces,
    rule,
    rules,
    match(facts, givenCost) {
      const params = openings.length === 0 ? NO_PARAMS : paramsOf(openings, facts.segments)
      const values = parts.map((part) => part.read(facts, params) ?? '')
      if (exempt?.(facts, values) === true) return EXEMPT
      const lacking = values.includes('')
      if (lacking && onMissingKey === 'skip') return LACKING
      const units = cost(facts, givenCost)
      if (typeof units === 'string') return { problem: units }
      const key = keyOf(parts, values, setting.hash)
      return { limit: compiled, step: stepOf(ruleFor(facts, values, lacking), key, units, costFrom) }
    },
  }
  return compiled
}

/** The namespace `domain/name`, in which no other pair of names ends up. */
function namespaceOf(domain: string, name: string): string {
  return `${withoutSlash(domain)}/${withoutSlash(name)}`
}

function withoutSlash(text: string): string {
  return escaped(text).replaceAll('/', '%2F')
}

function keyOf(parts: readonly Part[], values: readonly string[], hash: Hash): string {
  if (values.length === 1) return partText(parts[0]!, values[0]!, hash)
  return joinParts(values.map((value, i) => partText(parts[i]!, value, hash)))
}

function partText(part: Part, value: string, hash: Hash): string {
  if (value === '') return MISSING
  return part.secret ? hashedPart(value, hash) : keyPart(value, hash)
}

function paramsOf(globs: readonly Glob[], segments: readonly string[]): Params {
  for (const glob of globs) {
    const params = new Map<string, string>()
    if (fits(glob, segments, params)) return params
  }
  return NO_PARAMS
}

interface LimitRules extends Pick<CompiledLimit, 'rule' | 'rules'> {
  readonly ruleFor: (facts: Facts, values: readonly string[], lacking: boolean) => Rule
}

function rulesOf(limit: Limit, domain: string, parts: readonly Part[], setting: Setting): LimitRules {
  const { name } = limit
  const cost = typeof limit.cost === 'number' ? limit.cost : undefined
  const source = { options: limit, name, namespace: namespaceOf(domain, name), cost }
  const rules: Rule[] = []
  const ruleOf = (quota: Quota): Rule => {
    const rule = setting.ruleFor(source, quota)
    rules.push(rule)
    return rule
  }
  const rule = ruleOf(defaultQuota(limit.limit))
  const refusing = limit.onMissingKey === 'deny' ? refusingLike(rule) : undefined
  const override = keyLookup(
    limit.overrides.map(({ match, quota }) => [match, ruleOf(quota)] as const),
    parts,
  )
  const ofPlan = byPlan(limit.limit, ruleOf)
  return {
    rule,
    rules,
    ruleFor: (facts, values, lacking) =>
      (lacking ? refusing : undefined) ?? override?.(facts, values) ?? ofPlan?.(facts) ?? rule,
  }
}

/** For requests that lack a part of the key, where the limit refuses them. */
function refusingLike(rule: Rule): Rule {
  return { ...rule, plan: planOf(REFUSE_ALL), spread: 0, prefetch: undefined, missingKey: true }
}

const REFUSE_ALL = { algorithm: 'fixed-window', limit: 0, period: 'second' } as const

function byPlan(
  limit: Quota | PlanQuota,
  ruleOf: (quota: Quota) => Rule,
): ((facts: Facts) => Rule | undefined) | undefined {
  if (!('by' in limit)) return undefined
  const plans = new Map(Object.entries(limit.plans).map(([plan, quota]) => [plan, ruleOf(quota)]))
  return (facts) => plans.get(facts.attribute(limit.by) ?? '')
}

function defaultQuota(limit: Quota | PlanQuota): Quota {
  return 'by' in limit ? limit.otherwise : limit
}
