import { type OptionFields, shareCheck, that, wholeFrom } from '@sluice/limiter/options'

/** How limits are assigned to proxies, by Envoy's rate limit quota service. */
export interface RlqsOptions {
  /**
   * Milliseconds for which an assignment is good: whole seconds from 15,000 to 3,600,000. What a proxy was assigned that
   * cannot be reached is free for others only then. Default 30,000.
   */
  readonly ttlMs?: number
  /** Share of an even part, 0 to 1, that a proxy without requests keeps. Default 0.1. */
  readonly leastShare?: number
  /** Services that assign the same limits, each of them an even part. Default 1. */
  readonly nodes?: number
  /** Streams of proxies at once; others are refused. Default 1,000. */
  readonly maxStreams?: number
  /** Buckets of all streams; others get no assignment. Default 50,000. */
  readonly maxBuckets?: number
}

/** What the options may be. */
export const rlqsFields: OptionFields<RlqsOptions> = {
  ttlMs: that(
    'whole seconds in milliseconds, from 15000 to 3600000',
    (value) =>
      Number.isInteger((value as number) / 1_000) && Number(value) >= 15_000 && Number(value) <= 3_600_000,
  ),
  leastShare: shareCheck,
  nodes: wholeFrom(1, 1_000),
  maxStreams: wholeFrom(1, 100_000),
  maxBuckets: wholeFrom(1, 10_000_000),
}
