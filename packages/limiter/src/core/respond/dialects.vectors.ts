import type { Report, ReportedPolicy } from './dialect.ts'

/** A report, and the lines that it becomes. */
export interface DialectVector {
  readonly report: Report
  /** Retry-After; absent where none is sent. */
  readonly retryAfter?: string
  /** Of `draft-03`, `draft-06`, `draft-07`, `ietf`: header lines in order, between ` · `; empty where none is sent. */
  readonly lines: readonly [string, string, string, string]
}

/** Worked cases of the four generations of the RateLimit fields, byte for byte, by id and meaning. */
export const vectors: Readonly<Record<string, DialectVector>> = {
  'V1: fixed window of 100 per 60 s, 1 used, 50 s left': {
    report: report([policy('default', 100, 99, 60, 50_000)]),
    lines: [
      'RateLimit-Limit: 100, 100;w=60 · RateLimit-Remaining: 99 · RateLimit-Reset: 50',
      'RateLimit-Policy: 100;w=60 · RateLimit-Limit: 100 · RateLimit-Remaining: 99 · RateLimit-Reset: 50',
      'RateLimit-Policy: 100;w=60 · RateLimit: limit=100, remaining=99, reset=50',
      'RateLimit-Policy: "default";q=100;w=60 · RateLimit: "default";r=99;t=50',
    ],
  },
  'V2: the same, 50 used, 30 s left': {
    report: report([policy('default', 100, 50, 60, 30_000)]),
    lines: [
      'RateLimit-Limit: 100, 100;w=60 · RateLimit-Remaining: 50 · RateLimit-Reset: 30',
      'RateLimit-Policy: 100;w=60 · RateLimit-Limit: 100 · RateLimit-Remaining: 50 · RateLimit-Reset: 30',
      'RateLimit-Policy: 100;w=60 · RateLimit: limit=100, remaining=50, reset=30',
      'RateLimit-Policy: "default";q=100;w=60 · RateLimit: "default";r=50;t=30',
    ],
  },
  'V3: the same, 29.001 s left: rounded up': {
    report: report([policy('default', 100, 50, 60, 29_001)]),
    lines: [
      'RateLimit-Limit: 100, 100;w=60 · RateLimit-Remaining: 50 · RateLimit-Reset: 30',
      'RateLimit-Policy: 100;w=60 · RateLimit-Limit: 100 · RateLimit-Remaining: 50 · RateLimit-Reset: 30',
      'RateLimit-Policy: 100;w=60 · RateLimit: limit=100, remaining=50, reset=30',
      'RateLimit-Policy: "default";q=100;w=60 · RateLimit: "default";r=50;t=30',
    ],
  },
  'V4: exhausted by this request, which is served, 0.4 s left': {
    report: report([policy('default', 100, 0, 60, 400)]),
    lines: [
      'RateLimit-Limit: 100, 100;w=60 · RateLimit-Remaining: 0 · RateLimit-Reset: 1',
      'RateLimit-Policy: 100;w=60 · RateLimit-Limit: 100 · RateLimit-Remaining: 0 · RateLimit-Reset: 1',
      'RateLimit-Policy: 100;w=60 · RateLimit: limit=100, remaining=0, reset=1',
      'RateLimit-Policy: "default";q=100;w=60 · RateLimit: "default";r=0;t=1',
    ],
  },
  'V5: refused, 0.4 s left': {
    report: report([policy('default', 100, 0, 60, 400, { retryAfterMs: 400 })], { allowed: false }),
    retryAfter: '1',
    lines: [
      'RateLimit-Limit: 100, 100;w=60 · RateLimit-Remaining: 0 · RateLimit-Reset: 1',
      'RateLimit-Policy: 100;w=60 · RateLimit-Limit: 100 · RateLimit-Remaining: 0 · RateLimit-Reset: 1',
      'RateLimit-Policy: 100;w=60 · RateLimit: limit=100, remaining=0, reset=1',
      'RateLimit-Policy: "default";q=100;w=60 · RateLimit: "default";r=0;t=1',
    ],
  },
  'V6: refused, 5 s left': {
    report: report([policy('default', 10, 0, 60, 5_000, { retryAfterMs: 5_000 })], { allowed: false }),
    retryAfter: '5',
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 0 · RateLimit-Reset: 5',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 0 · RateLimit-Reset: 5',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=0, reset=5',
      'RateLimit-Policy: "default";q=10;w=60 · RateLimit: "default";r=0;t=5',
    ],
  },
  'V7: two windows, the day is the tighter': {
    report: report([
      policy('hour', 1_000, 1_000, 3_600, 3_600_000),
      policy('day', 5_000, 100, 86_400, 36_000_000),
    ]),
    lines: [
      'RateLimit-Limit: 5000, 1000;w=3600, 5000;w=86400 · RateLimit-Remaining: 100 · RateLimit-Reset: 36000',
      'RateLimit-Policy: 1000;w=3600, 5000;w=86400 · RateLimit-Limit: 5000 · RateLimit-Remaining: 100 · RateLimit-Reset: 36000',
      'RateLimit-Policy: 1000;w=3600, 5000;w=86400 · RateLimit: limit=5000, remaining=100, reset=36000',
      'RateLimit-Policy: "hour";q=1000;w=3600, "day";q=5000;w=86400 · RateLimit: "hour";r=1000;t=3600, "day";r=100;t=36000',
    ],
  },
  'V8: two windows with equal remaining: the later reset counts': {
    report: report([policy('a', 10, 3, 60, 20_000), policy('b', 50, 3, 3_600, 900_000)]),
    lines: [
      'RateLimit-Limit: 50, 10;w=60, 50;w=3600 · RateLimit-Remaining: 3 · RateLimit-Reset: 900',
      'RateLimit-Policy: 10;w=60, 50;w=3600 · RateLimit-Limit: 50 · RateLimit-Remaining: 3 · RateLimit-Reset: 900',
      'RateLimit-Policy: 10;w=60, 50;w=3600 · RateLimit: limit=50, remaining=3, reset=900',
      'RateLimit-Policy: "a";q=10;w=60, "b";q=50;w=3600 · RateLimit: "a";r=3;t=20, "b";r=3;t=900',
    ],
  },
  'V9: two policies with the same quota': {
    report: report([policy('sec', 10, 9, 1, 1_000), policy('min', 10, 4, 60, 42_000)]),
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 4 · RateLimit-Reset: 42',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 4 · RateLimit-Reset: 42',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=4, reset=42',
      'RateLimit-Policy: "sec";q=10;w=1, "min";q=10;w=60 · RateLimit: "sec";r=9;t=1, "min";r=4;t=42',
    ],
  },
  'V10: token bucket of 10, 1 per second, 4 left, 300 ms to the next': {
    report: report([policy('tb', 10, 4, 10, 5_300, { moreAfterMs: 300 })]),
    lines: [
      'RateLimit-Limit: 10, 10;w=10 · RateLimit-Remaining: 4 · RateLimit-Reset: 6',
      'RateLimit-Policy: 10;w=10 · RateLimit-Limit: 10 · RateLimit-Remaining: 4 · RateLimit-Reset: 6',
      'RateLimit-Policy: 10;w=10 · RateLimit: limit=10, remaining=4, reset=6',
      'RateLimit-Policy: "tb";q=10;w=10 · RateLimit: "tb";r=4;t=1',
    ],
  },
  'V11: GCRA of 10 per minute, refused, 2.5 s to the next': {
    report: report([policy('g', 10, 0, 60, 56_500, { moreAfterMs: 2_500, retryAfterMs: 2_500 })], {
      allowed: false,
    }),
    retryAfter: '3',
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 0 · RateLimit-Reset: 57',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 0 · RateLimit-Reset: 57',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=0, reset=57',
      'RateLimit-Policy: "g";q=10;w=60 · RateLimit: "g";r=0;t=3',
    ],
  },
  'V12: the same, cost 3 refused with 1 left, 8.5 s to 3': {
    report: report([policy('g', 10, 1, 60, 50_500, { moreAfterMs: 2_500, retryAfterMs: 8_500 })], {
      allowed: false,
      cost: 3,
    }),
    retryAfter: '9',
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 1 · RateLimit-Reset: 51',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 1 · RateLimit-Reset: 51',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=1, reset=51',
      'RateLimit-Policy: "g";q=10;w=60 · RateLimit: "g";r=1;t=3',
    ],
  },
  'V13: cost 20 above the capacity of 10: never': {
    report: report([policy('g', 10, 10, 60, 0, { moreAfterMs: null, retryAfterMs: null })], {
      allowed: false,
      cost: 20,
    }),
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 10 · RateLimit-Reset: 0',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 10 · RateLimit-Reset: 0',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=10, reset=0',
      'RateLimit-Policy: "g";q=10;w=60 · RateLimit: "g";r=10',
    ],
  },
  'V14: full bucket: nothing to wait for': {
    report: report([policy('g', 10, 10, 60, 0, { moreAfterMs: null })], { cost: 0 }),
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 10 · RateLimit-Reset: 0',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 10 · RateLimit-Reset: 0',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=10, reset=0',
      'RateLimit-Policy: "g";q=10;w=60 · RateLimit: "g";r=10',
    ],
  },
  'V15: partition key `trial121323`': {
    report: report([policy('peruser', 1_000, 999, 60, 60_000, { partitionKey: bytesOf('trial121323') })]),
    lines: [
      'RateLimit-Limit: 1000, 1000;w=60 · RateLimit-Remaining: 999 · RateLimit-Reset: 60',
      'RateLimit-Policy: 1000;w=60 · RateLimit-Limit: 1000 · RateLimit-Remaining: 999 · RateLimit-Reset: 60',
      'RateLimit-Policy: 1000;w=60 · RateLimit: limit=1000, remaining=999, reset=60',
      'RateLimit-Policy: "peruser";q=1000;w=60;pk=:dHJpYWwxMjEzMjM=: · RateLimit: "peruser";r=999;t=60;pk=:dHJpYWwxMjEzMjM=:',
    ],
  },
  'V16: partition key of bytes 00 ff 10': {
    report: report([policy('p', 5, 4, 1, 1_000, { partitionKey: Uint8Array.of(0x00, 0xff, 0x10) })]),
    lines: [
      'RateLimit-Limit: 5, 5;w=1 · RateLimit-Remaining: 4 · RateLimit-Reset: 1',
      'RateLimit-Policy: 5;w=1 · RateLimit-Limit: 5 · RateLimit-Remaining: 4 · RateLimit-Reset: 1',
      'RateLimit-Policy: 5;w=1 · RateLimit: limit=5, remaining=4, reset=1',
      'RateLimit-Policy: "p";q=5;w=1;pk=:AP8Q: · RateLimit: "p";r=4;t=1;pk=:AP8Q:',
    ],
  },
  'V17: empty partition key': {
    report: report([policy('p', 5, 4, 1, 1_000, { partitionKey: Uint8Array.of() })]),
    lines: [
      'RateLimit-Limit: 5, 5;w=1 · RateLimit-Remaining: 4 · RateLimit-Reset: 1',
      'RateLimit-Policy: 5;w=1 · RateLimit-Limit: 5 · RateLimit-Remaining: 4 · RateLimit-Reset: 1',
      'RateLimit-Policy: 5;w=1 · RateLimit: limit=5, remaining=4, reset=1',
      'RateLimit-Policy: "p";q=5;w=1;pk=:: · RateLimit: "p";r=4;t=1;pk=::',
    ],
  },
  'V18: 300 MB per 60 s': {
    report: report([policy('bw', 300_000_000, 300_000_000, 60, 60_000, { unit: 'content-bytes' })]),
    lines: [
      'RateLimit-Limit: 300000000, 300000000;w=60 · RateLimit-Remaining: 300000000 · RateLimit-Reset: 60',
      'RateLimit-Policy: 300000000;w=60 · RateLimit-Limit: 300000000 · RateLimit-Remaining: 300000000 · RateLimit-Reset: 60',
      'RateLimit-Policy: 300000000;w=60 · RateLimit: limit=300000000, remaining=300000000, reset=60',
      'RateLimit-Policy: "bw";q=300000000;qu="content-bytes";w=60 · RateLimit: "bw";r=300000000;t=60',
    ],
  },
  'V19: 20 at once, 3 held: no window': {
    report: report([policy('conc', 20, 17, undefined, 30_000, { unit: 'concurrent-requests' })]),
    lines: ['', '', '', 'RateLimit-Policy: "conc";q=20;qu="concurrent-requests" · RateLimit: "conc";r=17'],
  },
  'V20: a name with a quote and a backslash': {
    report: report([policy('a"b\\c', 1, 1, 1, 1_000)]),
    lines: [
      'RateLimit-Limit: 1, 1;w=1 · RateLimit-Remaining: 1 · RateLimit-Reset: 1',
      'RateLimit-Policy: 1;w=1 · RateLimit-Limit: 1 · RateLimit-Remaining: 1 · RateLimit-Reset: 1',
      'RateLimit-Policy: 1;w=1 · RateLimit: limit=1, remaining=1, reset=1',
      'RateLimit-Policy: "a\\"b\\\\c";q=1;w=1 · RateLimit: "a\\"b\\\\c";r=1;t=1',
    ],
  },
  'V21: 5 per 500 ms: a window that seconds cannot state': {
    report: report([policy('burst', 5, 4, 0.5, 500)]),
    lines: [
      'RateLimit-Limit: 5 · RateLimit-Remaining: 4 · RateLimit-Reset: 1',
      'RateLimit-Limit: 5 · RateLimit-Remaining: 4 · RateLimit-Reset: 1',
      'RateLimit: limit=5, remaining=4, reset=1',
      'RateLimit-Policy: "burst";q=5 · RateLimit: "burst";r=4;t=1',
    ],
  },
  'V22: a quota of 10^18: above the Integers of structured fields': {
    report: report([policy('big', 1e18, 1e18, 60, 60_000)]),
    lines: [
      'RateLimit-Limit: 999999999999999, 999999999999999;w=60 · RateLimit-Remaining: 999999999999999 · RateLimit-Reset: 60',
      'RateLimit-Policy: 999999999999999;w=60 · RateLimit-Limit: 999999999999999 · RateLimit-Remaining: 999999999999999 · RateLimit-Reset: 60',
      'RateLimit-Policy: 999999999999999;w=60 · RateLimit: limit=999999999999999, remaining=999999999999999, reset=60',
      'RateLimit-Policy: "big";q=999999999999999;w=60 · RateLimit: "big";r=999999999999999;t=60',
    ],
  },
  'V23: 7 below zero after a cut of the limit, refused': {
    report: report([policy('default', 10, -7, 60, 12_000, { retryAfterMs: 12_000 })], { allowed: false }),
    retryAfter: '12',
    lines: [
      'RateLimit-Limit: 10, 10;w=60 · RateLimit-Remaining: 0 · RateLimit-Reset: 12',
      'RateLimit-Policy: 10;w=60 · RateLimit-Limit: 10 · RateLimit-Remaining: 0 · RateLimit-Reset: 12',
      'RateLimit-Policy: 10;w=60 · RateLimit: limit=10, remaining=0, reset=12',
      'RateLimit-Policy: "default";q=10;w=60 · RateLimit: "default";r=0;t=12',
    ],
  },
  'V24: limit 0, 600 s of the hour left: never': {
    report: report([policy('default', 0, 0, 3_600, 600_000, { retryAfterMs: null })], { allowed: false }),
    lines: [
      'RateLimit-Limit: 0, 0;w=3600 · RateLimit-Remaining: 0 · RateLimit-Reset: 600',
      'RateLimit-Policy: 0;w=3600 · RateLimit-Limit: 0 · RateLimit-Remaining: 0 · RateLimit-Reset: 600',
      'RateLimit-Policy: 0;w=3600 · RateLimit: limit=0, remaining=0, reset=600',
      'RateLimit-Policy: "default";q=0;w=3600 · RateLimit: "default";r=0;t=600',
    ],
  },
  'V25: calendar month of 30 days, cost 2 served, 3 of 10,000 left': {
    report: report([policy('month', 10_000, 3, 2_592_000, 86_399_200)], { cost: 2 }),
    lines: [
      'RateLimit-Limit: 10000, 10000;w=2592000 · RateLimit-Remaining: 3 · RateLimit-Reset: 86400',
      'RateLimit-Policy: 10000;w=2592000 · RateLimit-Limit: 10000 · RateLimit-Remaining: 3 · RateLimit-Reset: 86400',
      'RateLimit-Policy: 10000;w=2592000 · RateLimit: limit=10000, remaining=3, reset=86400',
      'RateLimit-Policy: "month";q=10000;w=2592000 · RateLimit: "month";r=3;t=86400',
    ],
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
