import type { QuotaUnit, Report, ReportedPolicy } from '@sluice/limiter/respond'
import fc from 'fast-check'

/** Names that rules accept: 1 to 64 printable ASCII characters. */
const PLAIN_NAMES = fc.constantFrom('minute', 'hour', 'day', 'spend')
const POLICY_NAMES = fc.oneof(
  PLAIN_NAMES,
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 64 }),
  fc.constantFrom('a"b\\c', ' ', '=1;w=2, "x"', '100', 'a: b'),
)

/** Names that no rule accepts, and that must not break a line all the same. */
const STRANGE_NAMES = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'a\r\nSet-Cookie: b', 'a\0', 'naïve', '\u{1F680}'),
)

/** Everyday counts, negative ones after a cut, fractions, and what JavaScript writes with an exponent. */
const COUNTS = fc.oneof(
  fc.nat(100),
  fc.integer({ min: -50, max: 50 }),
  fc.double({ min: 0, max: 100, noNaN: true }),
  fc.constantFrom(1e-7, 2 ** 53 - 1, 2 ** 53, 1e15, 1e18, 1e21, 1e300, Number.POSITIVE_INFINITY),
)

/** Durations in milliseconds, in steps of a microsecond: at and about whole seconds, and of any size. */
const DURATIONS = fc.oneof(
  fc.nat(100_000),
  fc.nat(10 ** 9).map((micros) => micros / 1_000),
  fc
    .tuple(fc.integer({ min: 1, max: 90_000 }), fc.constantFrom(-0.001, 0, 0.001))
    .map(([seconds, off]) => seconds * 1_000 + off),
  fc.constantFrom(0.001, 1e12, 1e16, 1e21, Number.MAX_VALUE),
)

const WINDOW_SECONDS = fc.oneof(
  fc.integer({ min: 1, max: 86_400 }),
  fc.constantFrom(undefined, undefined, 0.5, 1.5, 2_592_000, 1e15, 1e21),
)

const QUOTA_UNITS = fc.constantFrom<(QuotaUnit | undefined)[]>(
  undefined,
  undefined,
  'requests',
  'content-bytes',
  'concurrent-requests',
)

/** Milliseconds since the epoch, with fractions: clocks have them. */
const INSTANTS = fc.integer({ min: 0, max: 16_000_000_000_000 }).map((quarters) => quarters / 4)

/** Reports of 1 to 4 policies with figures of any size, under names that rules accept. */
export const reports: fc.Arbitrary<Report> = reportsOf(POLICY_NAMES, fc.uint8Array({ maxLength: 12 }))

/** The same, under names that rules do not accept too. */
export const strangeReports: fc.Arbitrary<Report> = reportsOf(
  fc.oneof(POLICY_NAMES, STRANGE_NAMES),
  fc.uint8Array({ maxLength: 12 }),
)

/** The same with everyday names and without partition keys: no text in the lines can look like a number. */
export const plainReports: fc.Arbitrary<Report> = reportsOf(PLAIN_NAMES, fc.constant(undefined))

function reportsOf(
  names: fc.Arbitrary<string>,
  partitionKeys: fc.Arbitrary<Uint8Array | undefined>,
): fc.Arbitrary<Report> {
  return fc
    .record({
      policies: fc.array(reportedPolicies(names, partitionKeys), { minLength: 1, maxLength: 4 }),
      lenient: fc.boolean(),
      cost: fc.nat(1_000),
      nowMs: INSTANTS,
    })
    .map(({ policies, lenient, cost, nowMs }) => ({
      // A limit that refuses does not always refuse the request: one of several quotas may do.
      allowed: lenient || policies.every((policy) => policy.allowed),
      policies,
      cost,
      nowMs,
    }))
}

/** Figures of any size that keep one law: more is available no later than what was asked for. */
function reportedPolicies(
  names: fc.Arbitrary<string>,
  partitionKeys: fc.Arbitrary<Uint8Array | undefined>,
): fc.Arbitrary<ReportedPolicy> {
  return fc
    .record({
      policy: names,
      allowed: fc.boolean(),
      limit: COUNTS,
      remaining: COUNTS,
      moreAfterMs: fc.option(DURATIONS),
      longerMs: fc.option(DURATIONS),
      resetAfterMs: fc.option(DURATIONS, { freq: 10 }),
      windowSeconds: WINDOW_SECONDS,
      unit: QUOTA_UNITS,
      partitionKey: fc.option(partitionKeys, { nil: undefined }),
    })
    .map(({ longerMs, ...rest }) => ({
      ...rest,
      retryAfterMs: rest.allowed ? 0 : longerMs === null ? null : (rest.moreAfterMs ?? 0) + longerMs,
    }))
}
