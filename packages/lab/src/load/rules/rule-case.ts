import { policyOf } from '@sluice/limiter/algorithms'
import { canRefuse, type OnStoreError, type Rule } from '@sluice/limiter/decide'
import { type Domain, matchRequest, type Request, type Rules } from '@sluice/limiter/rules'
import { type AdmissionBound, boundOf } from '../admission-bound.ts'
import type { SentRequest } from '../request-template.ts'
import { type RuleCaller, type RuleRequest, requestFor } from './rule-request.ts'

/** One limit that can be tried alone. */
export interface RuleCase {
  readonly domain: string
  readonly name: string
  readonly algorithm: string
  readonly rule: Rule
  readonly bound: AdmissionBound
  /** Windows begin at the same instants for every key, multiples of the period since the epoch. */
  readonly aligned: boolean
  /** The most that all limits which the request meets admit at once. */
  readonly atOnce: number
  /** What happens to a request without the store: the strictest of the limits that it meets decides. */
  readonly onStoreError: OnStoreError
  /** Whether other callers have other counters. */
  readonly isKeyed: boolean
  request(key: string): SentRequest
}

/** A limit that is not tried, and why. */
export interface PassedRule {
  readonly name: string
  readonly reason: string
}

/** Requests that one burst may have. */
const MOST_AT_ONCE = 20_000

const STRICTEST_FIRST: readonly OnStoreError[] = ['closed', 'local', 'open']

/** How the rules' request reaches the target. */
export type Addressed = (domain: string, request: RuleRequest) => SentRequest | string

/**
 * The limits of the domains, each with a request that meets it.
 * @example
 * const domains = await loadRulebook(['rules.yaml'])
 * const { cases, passed } = ruleCases(compile(domains), domains, asCheck('/v1/check'))
 */
export function ruleCases(
  rules: Rules,
  domains: readonly Domain[],
  addressed: Addressed,
): { readonly cases: readonly RuleCase[]; readonly passed: readonly PassedRule[] } {
  const cases: RuleCase[] = []
  const passed: PassedRule[] = []
  for (const domain of domains) {
    for (const { name } of domain.limits) {
      const made = caseOf(rules, domain, name, addressed)
      if (typeof made === 'string') passed.push({ name, reason: made })
      else cases.push(made)
    }
  }
  return { cases, passed }
}

function caseOf(rules: Rules, domain: Domain, name: string, addressed: Addressed): RuleCase | string {
  const limit = domain.limits.find((each) => each.name === name)!
  const requestOf = (key: string): RuleRequest => requestFor(limit, callerOf(key))
  const { steps } = matchRequest(rules, domain.name, requestOf('0'))
  const step = steps.find(({ rule }) => rule.name === name)
  if (step === undefined) return 'no request could be made up that meets it alone'
  if (!canRefuse(step.rule.role) || step.rule.onLimit !== 'deny') return 'it refuses nothing'
  if (step.cost !== 1) return 'a request costs other than 1'
  const bound = boundOf(step.rule.plan)
  if (bound === undefined) return 'it counts requests under way'
  if (bound.capacity > MOST_AT_ONCE) return `more than ${MOST_AT_ONCE} requests are admitted at once`
  const asked = addressed(domain.name, requestOf('0'))
  if (typeof asked === 'string') return asked
  const refusing = steps.flatMap(({ rule }) => (canRefuse(rule.role) ? [rule] : []))
  const other = matchRequest(rules, domain.name, requestOf('1')).steps.find(({ rule }) => rule.name === name)
  return {
    domain: domain.name,
    name,
    algorithm: policyOf(step.rule.plan).algorithm,
    rule: step.rule,
    bound,
    aligned: step.rule.plan.algorithm.traits.aligned === true && step.rule.spread === 0,
    atOnce: Math.min(...refusing.map(({ plan }) => plan.capacity)),
    onStoreError: STRICTEST_FIRST.find((mode) => refusing.some((rule) => rule.onStoreError === mode))!,
    isKeyed: other !== undefined && other.key !== step.key,
    request: (key) => addressed(domain.name, requestOf(key)) as SentRequest,
  }
}

/** Keys end in a number; each number is an own /24 of 10.0.0.0/8. */
function callerOf(key: string): RuleCaller {
  const n = Number(/\d+$/.exec(key)?.[0] ?? 0)
  return { ip: `10.${(n >> 8) & 255}.${n & 255}.1`, name: key }
}

/**
 * As the body of `POST /v1/check`.
 * @example
 * const { cases } = ruleCases(rules, domains, asCheck('/v1/check'))
 */
export const asCheck =
  (path: string): ((domain: string, request: Request) => SentRequest) =>
  (domain, request) => ({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ domain, request }),
  })

/**
 * As a request of its own.
 * @param ipHeader in which the target takes the client's address, as behind a trusted proxy
 * @example
 * const { cases, passed } = ruleCases(rules, domains, asRequest('x-forwarded-for'))
 */
export const asRequest =
  (ipHeader: string | undefined): Addressed =>
  (_domain, { method, path, host, ip, headers, query, attributes }) => {
    if (attributes !== undefined) return `only the application knows ${Object.keys(attributes).join(', ')}`
    return {
      method,
      path: query === undefined ? path : `${path}?${new URLSearchParams(query)}`,
      headers: { ...headers, ...(host && { host }), ...(ipHeader && { [ipHeader]: ip }) },
      from: ipHeader === undefined ? ip.replace(/^10\./, '127.') : undefined,
    }
  }
