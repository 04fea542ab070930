import { ConfigError } from '../errors.ts'
import { escaped, hashedPart, joinParts, keyPart, MISSING } from '../identify/compose.ts'
import type { Facts } from '../identify/facts.ts'
import type { Hash } from '../identify/keyed-hash.ts'
import { type Params, type Part, parsePart } from '../identify/part.ts'
import { type Condition, conditionsOf, globsOf } from './condition.ts'
import { costOf } from './cost.ts'
import { fits, type Glob } from './glob.ts'
import type { Limit, PlanQuota, Quota } from './rule.ts'
import { type Law, lawOf, type Planner, type Ruling, rulingOf } from './ruling.ts'
import { type Whom, whom } from './whom.ts'

/** What compiling needs to know beside the rule. */
export interface Setting {
  readonly hash: Hash
  readonly foldPaths: boolean
  readonly planFor: Planner
}

/** A limit made ready for matching. */
export interface CompiledLimit {
  readonly name: string
  readonly conditions: readonly Condition[]
  readonly replaces: readonly string[]
  readonly law: Law
  /** What the limit asks of a request that meets its conditions. */
  readonly judge: (facts: Facts, givenCost: number | undefined) => Judgement
}

export type Judgement = Applied | { readonly skipped: 'missing' | 'exempt' } | { readonly problem: string }

export interface Applied {
  readonly limit: CompiledLimit
  readonly ruling: Ruling
  readonly key: string
  readonly cost: number
}

const NO_PARAMS: Params = new Map()
const EXEMPT = { skipped: 'exempt' } as const
const LACKING = { skipped: 'missing' } as const

/** @throws ConfigError for a limit that cannot mean anything. */
export function compileLimit(limit: Limit, domain: string, setting: Setting): CompiledLimit {
  const { name, when = {}, onMissingKey } = limit
  if (!/^[ -~]{1,64}$/.test(name)) throw new ConfigError('a name must be 1 to 64 printable ASCII characters')
  const globs = globsOf(when, setting.foldPaths)
  const parts = limit.key.map((text) => parsePart(text, setting.foldPaths))
  const openings = parts.some(({ kind }) => kind === 'param') ? globs : []
  const exempt = whomOrNone(
    limit.exempt.map((text) => [text, true] as const),
    parts,
  )
  const cost = costOf(limit.cost)
  const rulingFor = rulings(limit, parts, setting)
  const compiled: CompiledLimit = {
    name,
    conditions: conditionsOf(when, globs),
    replaces: limit.replaces,
    law: lawOf(limit, policyName(domain, name)),
    judge(facts, givenCost) {
      const params = openings.length === 0 ? NO_PARAMS : paramsOf(openings, facts.segments)
      const values = parts.map((part) => part.read(facts, params) ?? '')
      if (exempt?.(facts, values) === true) return EXEMPT
      const lacking = values.includes('')
      if (lacking && onMissingKey === 'skip') return LACKING
      const units = cost(facts, givenCost)
      if (typeof units === 'string') return { problem: units }
      const ruling = rulingFor(facts, values, lacking)
      return { limit: compiled, ruling, key: keyOf(parts, values, setting.hash), cost: units }
    },
  }
  return compiled
}

/** `domain/name`, in which no other pair of names ends up. */
export function policyName(domain: string, name: string): string {
  return `${withoutSlash(domain)}/${withoutSlash(name)}`
}

function withoutSlash(text: string): string {
  return escaped(text).replaceAll('/', '%2F')
}

function keyOf(parts: readonly Part[], values: readonly string[], hash: Hash): string {
  return joinParts(
    values.map((value, i) => {
      if (value === '') return MISSING
      return parts[i]!.secret ? hashedPart(value, hash) : keyPart(value, hash)
    }),
  )
}

function paramsOf(globs: readonly Glob[], segments: readonly string[]): Params {
  for (const glob of globs) {
    const params = new Map<string, string>()
    if (fits(glob, segments, params)) return params
  }
  return NO_PARAMS
}

function rulings(
  limit: Limit,
  parts: readonly Part[],
  { planFor }: Setting,
): (facts: Facts, values: readonly string[], lacking: boolean) => Ruling {
  const rule = (quota: Quota): Ruling => rulingOf(limit, quota, limit.name, planFor)
  const nobody: Ruling = {
    ...rule(defaultQuota(limit.limit)),
    plan: planFor(REFUSE_ALL),
    spread: 0,
    ahead: undefined,
  }
  const override = whomOrNone(
    limit.overrides.map(({ match, quota }) => [match, rule(quota)] as const),
    parts,
  )
  const planned = byPlan(limit.limit, rule)
  return (facts, values, lacking) =>
    lacking && limit.onMissingKey === 'deny' ? nobody : (override?.(facts, values) ?? planned(facts))
}

const REFUSE_ALL = { algorithm: 'fixed-window', limit: 0, period: 'second' } as const

function whomOrNone<T>(
  entries: readonly (readonly [string, T])[],
  parts: readonly Part[],
): Whom<T> | undefined {
  return entries.length === 0 ? undefined : whom(entries, parts)
}

function byPlan(limit: Quota | PlanQuota, rule: (quota: Quota) => Ruling): (facts: Facts) => Ruling {
  const otherwise = rule(defaultQuota(limit))
  if (!('by' in limit)) return () => otherwise
  const plans = new Map(Object.entries(limit.plans).map(([plan, quota]) => [plan, rule(quota)]))
  return (facts) => plans.get(facts.attribute(limit.by) ?? '') ?? otherwise
}

function defaultQuota(limit: Quota | PlanQuota): Quota {
  return 'by' in limit ? limit.otherwise : limit
}
