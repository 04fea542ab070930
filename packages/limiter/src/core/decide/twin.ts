import type { Plan } from './algorithm.ts'

/**
 * An algorithm's formula a second time, in Lua 5.1, for a store that decides where the state is. It is the same
 * arithmetic over the same doubles, so both give the same figures bit for bit.
 *
 * Each text is the body of a function of `p`, `c`, `now` and what else {@link parameters} names. `p` holds the
 * plan's capacity, limit, period, unit and ceiling, and at `p[1]`… the twin's own {@link Twin.extras}; `c[1]`… are
 * the cells, `c[1]` being the last admission in microseconds, which the caller writes after a charge. What integers.lua.ts defines
 * is in reach. The remainder is `fmod`: Lua's `%` has another sign below 0.
 */
export interface Twin {
  /** How the state is kept: a fixed run of integers, entries in order of time, or slots by the id of their charge. */
  readonly keeps: 'cells' | 'log' | 'slots'
  /** Integers in a run of `cells`. */
  readonly size?: number
  /** Local functions that the bodies share. */
  readonly locals?: string
  readonly remaining: string
  /** `huge` when no wait helps. */
  readonly wait: string
  readonly charge: string
  readonly refund: string
  readonly delay?: string
  readonly idle?: string
  /** True where a charge needs a window and none of `p` holds `now`: then nothing may be charged. */
  readonly noWindow?: string
  /** A special form of the bodies for straight scripts. */
  readonly once?: OnceBodies | undefined
  /** Integers beyond the common ones, and how many: the same for every plan. `now` is in microseconds. */
  readonly extras?: (plan: Plan, now: number) => readonly number[]
  readonly extraCount?: number
}

/**
 * `remaining`, and `charge` of a cost that fits with the wait until the state equals none after it, as statements that compute
 * once what those bodies each compute anew: a sixth to a fifth fewer instructions of the server for a decision.
 */
interface OnceBodies {
  /** The names of what `read` makes beside `left`, for `charge`. */
  readonly shared: readonly string[]
  /** Makes `left` of `last` and `now`. */
  readonly read: string
  /** Charges `cost`, which is above 0 and at most `left`, and makes `pause`. */
  readonly charge: string
}

/** What each body is a function of. */
export const parameters = {
  remaining: 'p, c, last, now',
  wait: 'p, c, last, now, cost',
  charge: 'p, c, last, now, cost, chargeId',
  refund: 'p, c, last, now, cost, charged, chargeId',
  delay: 'p, c, last, now',
  idle: 'p, c, last, now',
  noWindow: 'p, c, now',
} as const
