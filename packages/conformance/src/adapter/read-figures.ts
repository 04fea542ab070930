import type { Decision } from '@sluice/limiter'
import type { RateLimitInfo } from '@sluice/limiter/gate'

type FigureCheck<T, V> = (value: V, of: T) => boolean

/** What each documented figure must be, in every outcome. A new figure needs its line here: the type asks for it. */
const FIGURES: { readonly [F in keyof RateLimitInfo]: FigureCheck<RateLimitInfo, RateLimitInfo[F]> } = {
  limit: (limit, { policy, decision }) =>
    isCount(limit) && limit === decision.limit && (policy === '') === (limit === Number.POSITIVE_INFINITY),
  used: (used, { limit, remaining }) => used === (Number.isFinite(limit) ? limit - remaining : 0),
  remaining: (remaining, { limit, decision }) =>
    isCount(remaining) && remaining <= limit && remaining === (decision.remaining ?? 0),
  resetTime: (at, { decision }) =>
    at === undefined ? decision.resetAfterMs === null : at instanceof Date && Number.isFinite(at.getTime()),
  key: (key) => typeof key === 'string',
  policy: (policy, { decision }) => typeof policy === 'string' && policy === decision.policy,
  soft: (soft, { decision }) => soft === decision.policies.some((own) => own.soft === true),
  priority: (priority, { decision }) =>
    priority === 'low' || (priority === 'normal' && decision.priority === undefined),
  decision: (decision) => faultsOf(decision, DECISION).length === 0,
}

const isWait = (ms: number | null): boolean => ms === null || (ms >= 0 && Number.isFinite(ms))

const DECISION: { readonly [F in keyof Decision]-?: FigureCheck<Decision, Decision[F]> } = {
  allowed: (allowed) => typeof allowed === 'boolean',
  policy: (policy) => typeof policy === 'string',
  limit: isCount,
  remaining: (remaining, { degraded }) => (remaining === null ? degraded : isCount(remaining)),
  retryAfterMs: (ms, { allowed }) => isWait(ms) && (!allowed || ms === 0),
  moreAfterMs: isWait,
  resetAfterMs: isWait,
  delayMs: (ms) => ms >= 0 && Number.isFinite(ms),
  policies: (policies) => Array.isArray(policies) && policies.every(({ policy }) => policy !== ''),
  degraded: (degraded) => typeof degraded === 'boolean',
  priority: (priority) => priority === undefined || priority === 'low',
  blocked: (blocked) => blocked === undefined || blocked === true,
}

/** The figures that are not as documented: those of a request, as an application or a function of the options finds it. */
export function faultsOfInfo(info: RateLimitInfo | undefined): readonly string[] {
  if (info === undefined) return ['there are no figures']
  return [
    ...faultsOf(info, FIGURES),
    ...faultsOf(info.decision, DECISION).map((fault) => `decision.${fault}`),
  ]
}

/** Reads every field that there is, with or without a rule: none may throw, and none is beyond the documented ones. */
function faultsOf<T extends object>(
  of: T,
  rules: { readonly [F in keyof T]-?: FigureCheck<T, T[F]> },
): readonly string[] {
  const present = [...Object.keys(of), ...gettersOf(of)] as (keyof T & string)[]
  const names = new Set([...present, ...(Object.keys(rules) as (keyof T & string)[])])
  return [...names].flatMap((name) => {
    const rule = (rules as Partial<typeof rules>)[name]
    if (rule === undefined) return [`${name} is documented nowhere`]
    return rule(of[name], of) ? [] : [`${name} is ${String(of[name])}`]
  })
}

function gettersOf(of: object): readonly string[] {
  const inherited = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(of))
  return Object.entries(inherited).flatMap(([name, { get }]) => (get && name !== '__proto__' ? [name] : []))
}

function isCount(value: number): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= 0)
}
