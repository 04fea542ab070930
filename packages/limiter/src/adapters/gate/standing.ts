import type { Decision } from '../../core/decide/decision.ts'

/** What limiters have said of one request so far. */
export interface Standing {
  /** The limiters that judged it: none counts a request twice. */
  readonly judges: object[]
  /** All their decisions as one. */
  decision?: Decision
}

const STANDING: unique symbol = Symbol('sluice.standing')

/** The one record of a request, kept on the request itself and gone with it. */
export function standingOf(holder: { [STANDING]?: Standing }): Standing {
  holder[STANDING] ??= { judges: [] }
  return holder[STANDING]
}
