import type { Decision } from '../../core/decide/decision.ts'
import type { RateLimitInfo } from './info.ts'

/** What limiters have said of one request so far. */
export interface Standing {
  /** The limiters that judged it: none counts a request twice. */
  readonly judges: Set<object>
  /** All their decisions as one. */
  decision?: Decision
  /** The figures of the strictest. */
  info?: RateLimitInfo
}

const STANDING: unique symbol = Symbol('sluice.standing')

/** The one record of a request, kept on the request itself and gone with it. */
export function standingOf(holder: { [STANDING]?: Standing }): Standing {
  holder[STANDING] ??= { judges: new Set() }
  return holder[STANDING]
}
