import { above0, flag, type OptionFields, objectOf, textCheck } from '@sluice/limiter/options'
import type { LimitHeaderNames, ResponseOptions } from './write-response.ts'

/** How requests of Envoy's rate limit API are answered. */
export interface RlsOptions extends ResponseOptions {
  /** Milliseconds for a decision where the caller does not say how long it waits; at most 60,000. Default 15. */
  readonly deadlineMs?: number
  /** Every limit of descriptors refuses only together with every other of the request. Default false. */
  readonly quota?: boolean
  /** Share of a limit, above 0 to 1, from which hits are counted as near it. Default 0.8. */
  readonly nearLimitRatio?: number
  /** Milliseconds after which a connection is ended, to spread clients anew. Default: never. */
  readonly maxConnectionAgeMs?: number
  /** Milliseconds for which calls may go on then. Default: until they end. */
  readonly maxConnectionAgeGraceMs?: number
}

const LONGEST_AGE = 2_147_483_647

/** What the options may be. */
export const rlsFields: OptionFields<RlsOptions> = {
  deadlineMs: above0(60_000),
  shadow: flag,
  quota: flag,
  dynamicMetadata: flag,
  limitHeaders: objectOf<LimitHeaderNames>({ limit: textCheck, remaining: textCheck, reset: textCheck }, [
    'limit',
    'remaining',
    'reset',
  ]),
  nearLimitRatio: above0(1),
  maxConnectionAgeMs: above0(LONGEST_AGE),
  maxConnectionAgeGraceMs: above0(LONGEST_AGE),
}
