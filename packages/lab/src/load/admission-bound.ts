import type { Plan } from '@sluice/limiter/algorithms'

/** What a limit admits of one key, whenever its requests come. Times are milliseconds. */
export interface AdmissionBound {
  /** At once, by a key that has used nothing. */
  readonly capacity: number
  /** Of the units that come back: so many in `periodMs`. */
  readonly limit: number
  readonly periodMs: number
  /** In any interval I at most `burst + I · perMs`. */
  readonly flow?: { readonly burst: number; readonly perMs: number }
  /** In any interval shorter than `periodMs` at most so many. */
  readonly inWindow?: number
  /** A refusal with more room than that is wrong; `false` where the formula refuses some such requests by design. */
  readonly refusesOnlyWhenFull: boolean
}

/**
 * The worst case of a plan's algorithm (docs/algorithms/README.md). `undefined` where slots are held until requests
 * end: what a client sees says nothing of these.
 * @example
 * boundOf(planOf({ algorithm: 'fixed-window', limit: 5, period: '1s' }))?.inWindow // 10: across an edge
 */
export function boundOf(plan: Plan): AdmissionBound | undefined {
  const { traits } = plan.algorithm
  if (traits.holds) return undefined
  const { capacity, limit } = plan
  const periodMs = (plan.period * plan.unit) / 1_000
  const perMs = limit / periodMs
  const common = { capacity, limit, periodMs }
  if (traits.flows || traits.queues)
    return { ...common, flow: { burst: capacity, perMs }, refusesOnlyWhenFull: true }
  if (traits.aligned || traits.ends)
    return { ...common, inWindow: 2 * limit, refusesOnlyWhenFull: traits.ends === true }
  if (plan.size === 0) return { ...common, inWindow: limit, refusesOnlyWhenFull: true }
  // All of `limit` comes back at once, up to a period after it was used.
  return { ...common, flow: { burst: capacity + limit, perMs }, refusesOnlyWhenFull: false }
}

/**
 * Of a limiter of which only the limit is known: in no interval shorter than a period more than the limit.
 * @example
 * statedBound(10, 2_000).inWindow // 10
 */
export function statedBound(limit: number, periodMs: number, burst?: number): AdmissionBound {
  if (burst === undefined)
    return { capacity: limit, limit, periodMs, inWindow: limit, refusesOnlyWhenFull: false }
  const flow = { burst, perMs: limit / periodMs }
  return { capacity: burst, limit, periodMs, flow, refusesOnlyWhenFull: false }
}
