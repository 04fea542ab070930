import { binding } from '../../../core/decide/combine.ts'
import type { Decision, PolicyFigures } from '../../../core/decide/decision.ts'
import type { StatedFigures } from '../../../core/decide/figures.ts'
import type { RateLimitInfo } from './info.ts'

/** What one limiter has decided about a request, and those before it. */
export interface Evaluation {
  readonly limiter: object
  readonly before: Evaluation | undefined
  /** Absent as long as it has not decided. */
  decision: Decision | undefined
  /** What headers tell this limiter's counters apart by. */
  partitionKey: Uint8Array | undefined
  /** What the application is shown, and under which name. */
  readonly name: string
  info: RateLimitInfo | undefined
}

/** Where it is recorded. A framework whose requests declare it spares them a change of shape. */
export const EVALUATION: unique symbol = Symbol('sluice.evaluation')

/** The framework's request, on which limiters record their decision: it goes with the request. */
interface Recorded {
  [EVALUATION]?: Evaluation
}

/** A limiter's new record on a request; `undefined` when it has one already: no limiter counts a request twice. */
export function evaluationOn(request: Recorded, limiter: object, name: string): Evaluation | undefined {
  const before = request[EVALUATION]
  for (let each = before; each !== undefined; each = each.before)
    if (each.limiter === limiter) return undefined
  const own = { limiter, before, decision: undefined, partitionKey: undefined, name, info: undefined }
  request[EVALUATION] = own
  return own
}

/** The figures that limiters up to this one have shown the application under a name. */
export function infoUpTo(last: Evaluation | undefined, name: string): RateLimitInfo | undefined {
  for (let each = last; each !== undefined; each = each.before)
    if (each.info !== undefined && each.name === name) return each.info
  return undefined
}

/** The same, up to the last limiter that the request has met. */
export function infoOn(request: Recorded, name: string): RateLimitInfo | undefined {
  return infoUpTo(request[EVALUATION], name)
}

/** Whether any limiter of this request has lowered its priority. */
export function isLowered(last: Evaluation): boolean {
  for (let each: Evaluation | undefined = last; each !== undefined; each = each.before)
    if (each.decision?.priority === 'low') return true
  return false
}

/** All decisions on a request as one, for headers. */
export function decisionOn(request: Recorded): Decision | undefined {
  const last = request[EVALUATION]
  if (last === undefined) return undefined
  return last.before === undefined ? partitioned(last) : upTo(last)
}

function upTo(last: Evaluation): Decision | undefined {
  const decision = partitioned(last)
  const earlier = last.before && upTo(last.before)
  if (earlier === undefined || decision === undefined) return decision ?? earlier
  return together(earlier, decision)
}

function partitioned({ decision, partitionKey }: Evaluation): Decision | undefined {
  if (decision === undefined || partitionKey === undefined) return decision
  return { ...decision, policies: decision.policies.map((own) => ({ ...own, partitionKey })) }
}

/**
 * Two limiters' decisions on one request as one, so that its headers describe both, and its figures are those
 * of the stricter. What was decided without the store has no figures, unless it refuses.
 */
function together(earlier: Decision, own: Decision): Decision {
  if (earlier.degraded || earlier.policy === '' || (own.degraded && !own.allowed)) return own
  if (own.degraded || own.policy === '') return earlier
  const { allowed, delayMs } = own
  return {
    ...stricter(earlier, own, allowed),
    allowed,
    delayMs,
    policies: distinctPolicies([...earlier.policies, ...own.policies], allowed),
  }
}

/** The one whose figures count, of two. */
function stricter<F extends StatedFigures>(earlier: F, own: F, allowed: boolean): F {
  return binding([earlier, own], allowed) === 0 ? earlier : own
}

/** Clients know policies by their names: of two that share one they see the stricter. */
function distinctPolicies(policies: readonly PolicyFigures[], allowed: boolean): readonly PolicyFigures[] {
  const byName = new Map<string, PolicyFigures>()
  for (const own of policies) {
    const earlier = byName.get(own.policy)
    byName.set(own.policy, earlier === undefined ? own : stricter(earlier, own, allowed))
  }
  return [...byName.values()]
}
