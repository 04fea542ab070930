import type { Report, ReportedPolicy } from '@sluice/limiter/respond'

const MINUTE: ReportedPolicy = {
  policy: 'minute',
  allowed: true,
  limit: 60,
  remaining: 56,
  retryAfterMs: 0,
  moreAfterMs: 1_000,
  resetAfterMs: 4_000,
  windowSeconds: 60,
}

/** A thousand in the hour, of which a request wanted more than the 400 that are left. */
const SPENT_POLICY: ReportedPolicy = {
  policy: 'spend',
  allowed: false,
  limit: 1_000,
  remaining: 400,
  retryAfterMs: 3_000_000,
  moreAfterMs: 3_000_000,
  resetAfterMs: 3_000_000,
  windowSeconds: 3_600,
}

/** Whatever else a dialect leaves out, it must send headers of these. */
export const required: Readonly<Record<string, Report>> = {
  'an admitted request': report([MINUTE]),
  'an admitted request, with several policies': report([
    { ...MINUTE, policy: 'hour', limit: 1_000, remaining: 999, windowSeconds: 3_600 },
    MINUTE,
  ]),
  'a refused request': report([{ ...MINUTE, allowed: false, remaining: 0, retryAfterMs: 400 }], false),
  'a refused request, where another policy passed with less left': report([MINUTE, SPENT_POLICY], false),
  'a refused request, where the policy that passed stands last': report([SPENT_POLICY, MINUTE], false),
}

/** Of these it may send nothing; what it sends must be right. */
export const optional: Readonly<Record<string, Report>> = {
  'a full bucket': report([{ ...MINUTE, remaining: 60, moreAfterMs: null, resetAfterMs: 0 }]),
  'less than a second left': report([{ ...MINUTE, moreAfterMs: 0.001, resetAfterMs: 400 }]),
  'a whole second left': report([{ ...MINUTE, moreAfterMs: 1_000, resetAfterMs: 2_000 }]),
  'just over a second left': report([{ ...MINUTE, moreAfterMs: 1_000.001, resetAfterMs: 29_000.001 }]),
  'a limit of 0, which never admits': report(
    [{ ...MINUTE, allowed: false, limit: 0, remaining: 0, retryAfterMs: null }],
    false,
  ),
  'less than nothing left, after a cut of the limit': report([{ ...MINUTE, remaining: -7 }]),
  'a quota that resets never': report([{ ...MINUTE, moreAfterMs: null, resetAfterMs: null }]),
  'no window, as with concurrency': report([{ ...MINUTE, windowSeconds: undefined }]),
  'a window of half a second': report([{ ...MINUTE, windowSeconds: 0.5 }]),
  'figures beyond 2^53': report([{ ...MINUTE, limit: 1e18, remaining: 1e18, resetAfterMs: 1e18 }]),
}

function report(policies: readonly ReportedPolicy[], allowed = true): Report {
  return { allowed, policies, cost: 1, nowMs: 1_700_000_000_250 }
}
