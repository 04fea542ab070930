import type { Report, ReportedPolicy } from './dialect.ts'

/** A report; dialects.lines.ts has the lines that each dialect makes of it, by the vector's id. */
export interface DialectVector {
  readonly meaning: string
  readonly report: Report
  /** Retry-After; absent where none is sent. */
  readonly retryAfter?: string
}

/** Worked cases by id, the same for every dialect. */
export const vectors: Readonly<Record<string, DialectVector>> = {
  V1: {
    meaning: 'fixed window of 100 per 60 s, 1 used, 50 s left',
    report: report([policy('default', 100, 99, 60, 50_000)]),
  },
  V2: {
    meaning: 'the same, 50 used, 30 s left',
    report: report([policy('default', 100, 50, 60, 30_000)]),
  },
  V3: {
    meaning: 'the same, 29.001 s left: rounded up',
    report: report([policy('default', 100, 50, 60, 29_001)]),
  },
  V4: {
    meaning: 'exhausted by this request, which is served, 0.4 s left',
    report: report([policy('default', 100, 0, 60, 400)]),
  },
  V5: {
    meaning: 'refused, 0.4 s left',
    report: report([policy('default', 100, 0, 60, 400, { retryAfterMs: 400 })], { allowed: false }),
    retryAfter: '1',
  },
  V6: {
    meaning: 'refused, 5 s left',
    report: report([policy('default', 10, 0, 60, 5_000, { retryAfterMs: 5_000 })], { allowed: false }),
    retryAfter: '5',
  },
  V7: {
    meaning: 'two windows, the day is the tighter',
    report: report([
      policy('hour', 1_000, 1_000, 3_600, 3_600_000),
      policy('day', 5_000, 100, 86_400, 36_000_000),
    ]),
  },
  V8: {
    meaning: 'two windows with equal remaining: the later reset counts',
    report: report([policy('a', 10, 3, 60, 20_000), policy('b', 50, 3, 3_600, 900_000)]),
  },
  V9: {
    meaning: 'two policies with the same quota',
    report: report([policy('sec', 10, 9, 1, 1_000), policy('min', 10, 4, 60, 42_000)]),
  },
  V10: {
    meaning: 'token bucket of 10, 1 per second, 4 left, 300 ms to the next',
    report: report([policy('tb', 10, 4, 10, 5_300, { moreAfterMs: 300 })]),
  },
  V11: {
    meaning: 'GCRA of 10 per minute, refused, 2.5 s to the next',
    report: report([policy('g', 10, 0, 60, 56_500, { moreAfterMs: 2_500, retryAfterMs: 2_500 })], {
      allowed: false,
    }),
    retryAfter: '3',
  },
  V12: {
    meaning: 'the same, cost 3 refused with 1 left, 8.5 s to 3',
    report: report([policy('g', 10, 1, 60, 50_500, { moreAfterMs: 2_500, retryAfterMs: 8_500 })], {
      allowed: false,
      cost: 3,
    }),
    retryAfter: '9',
  },
  V13: {
    meaning: 'cost 20 above the capacity of 10: never',
    report: report([policy('g', 10, 10, 60, 0, { moreAfterMs: null, retryAfterMs: null })], {
      allowed: false,
      cost: 20,
    }),
  },
  V14: {
    meaning: 'full bucket: nothing to wait for',
    report: report([policy('g', 10, 10, 60, 0, { moreAfterMs: null })], { cost: 0 }),
  },
  V15: {
    meaning: 'partition key `trial121323`',
    report: report([policy('peruser', 1_000, 999, 60, 60_000, { partitionKey: bytesOf('trial121323') })]),
  },
  V16: {
    meaning: 'partition key of bytes 00 ff 10',
    report: report([policy('p', 5, 4, 1, 1_000, { partitionKey: Uint8Array.of(0x00, 0xff, 0x10) })]),
  },
  V17: {
    meaning: 'empty partition key',
    report: report([policy('p', 5, 4, 1, 1_000, { partitionKey: Uint8Array.of() })]),
  },
  V18: {
    meaning: '300 MB per 60 s',
    report: report([policy('bw', 300_000_000, 300_000_000, 60, 60_000, { unit: 'content-bytes' })]),
  },
  V19: {
    meaning: '20 at once, 3 held: no window',
    report: report([policy('conc', 20, 17, undefined, 30_000, { unit: 'concurrent-requests' })]),
  },
  V20: {
    meaning: 'a name with a quote and a backslash',
    report: report([policy('a"b\\c', 1, 1, 1, 1_000)]),
  },
  V21: {
    meaning: '5 per 500 ms: a window that seconds cannot state',
    report: report([policy('burst', 5, 4, 0.5, 500)]),
  },
  V22: {
    meaning: 'a quota of 10^18: above the Integers of structured fields',
    report: report([policy('big', 1e18, 1e18, 60, 60_000)]),
  },
  V23: {
    meaning: '7 below zero after a cut of the limit, refused',
    report: report([policy('default', 10, -7, 60, 12_000, { retryAfterMs: 12_000 })], { allowed: false }),
    retryAfter: '12',
  },
  V24: {
    meaning: 'limit 0, 600 s of the hour left: never',
    report: report([policy('default', 0, 0, 3_600, 600_000, { retryAfterMs: null })], { allowed: false }),
  },
  V25: {
    meaning: 'calendar month of 30 days, cost 2 served, 3 of 10,000 left',
    report: report([policy('month', 10_000, 3, 2_592_000, 86_399_200)], { cost: 2 }),
  },
}

function report(policies: ReportedPolicy[], rest: Partial<Report> = {}): Report {
  return { allowed: true, policies, cost: 1, nowMs: 1_700_000_000_000, ...rest }
}

/** A window: more comes when all comes, unless `rest` says otherwise. */
function policy(
  name: string,
  limit: number,
  remaining: number,
  windowSeconds: number | undefined,
  resetAfterMs: number,
  rest: Partial<ReportedPolicy> = {},
): ReportedPolicy {
  const moreAfterMs = resetAfterMs
  return {
    policy: name,
    limit,
    remaining,
    windowSeconds,
    retryAfterMs: 0,
    moreAfterMs,
    resetAfterMs,
    allowed: rest.retryAfterMs === undefined,
    unit: 'requests',
    ...rest,
  }
}

/** ASCII only. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
