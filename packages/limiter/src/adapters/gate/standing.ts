import { binding } from '../../core/decide/combine.ts'
import type { Decision, PolicyFigures } from '../../core/decide/decision.ts'
import type { Figures } from '../../core/decide/figures.ts'

/** What one limiter has said of a request, and those before it. */
export interface Standing {
  readonly judge: object
  readonly before: Standing | undefined
  /** Absent as long as it has not decided. */
  decision: Decision | undefined
}

/** Where it stands. A framework whose requests declare it spares them a change of shape. */
export const STANDING: unique symbol = Symbol('sluice.standing')

/** The request itself, on which limiters leave word for each other: gone with it. */
interface Holder {
  [STANDING]?: Standing
}

/** A limiter's place on a request; `undefined` when it has one already, for none counts a request twice. */
export function placeOn(holder: Holder, judge: object): Standing | undefined {
  const before = holder[STANDING]
  for (let each = before; each !== undefined; each = each.before) if (each.judge === judge) return undefined
  const own = { judge, before, decision: undefined }
  holder[STANDING] = own
  return own
}

/** All decisions on a request as one. */
export function decisionOn(holder: Holder): Decision | undefined {
  const last = holder[STANDING]
  return last?.before === undefined ? last?.decision : upTo(last)
}

function upTo({ before, decision }: Standing): Decision | undefined {
  const earlier = before && upTo(before)
  if (earlier === undefined || decision === undefined) return decision ?? earlier
  return together(earlier, decision)
}

/**
 * Two limiters' decisions on one request as one, so that its headers tell of both, and its figures are those of
 * the stricter. What was decided without the store has no figures to tell, unless it refuses.
 */
function together(earlier: Decision, own: Decision): Decision {
  if (earlier.degraded || earlier.policy === '' || (own.degraded && !own.allowed)) return own
  if (own.degraded || own.policy === '') return earlier
  const { allowed, delayMs, priority = earlier.priority } = own
  return {
    ...stricter(earlier, own, allowed),
    allowed,
    delayMs,
    policies: distinct([...earlier.policies, ...own.policies], allowed),
    ...(priority === undefined ? undefined : { priority }),
  }
}

/** The one whose figures count, of two. */
function stricter<F extends Figures>(earlier: F, own: F, allowed: boolean): F {
  return binding([earlier, own], allowed) === 0 ? earlier : own
}

/** Clients know policies by their names: of two that share one they are told of the stricter. */
function distinct(policies: readonly PolicyFigures[], allowed: boolean): readonly PolicyFigures[] {
  const byName = new Map<string, PolicyFigures>()
  for (const own of policies) {
    const earlier = byName.get(own.policy)
    byName.set(own.policy, earlier === undefined ? own : stricter(earlier, own, allowed))
  }
  return [...byName.values()]
}
