import type { ReadPolicy, Report, ReportedPolicy } from './dialect.ts'

const MOST = 999_999_999_999_999

/** A count as structured fields can state it. */
export const shownCount = (count: number): number => Math.min(MOST, Math.max(0, count))
const secondsUp = (ms: number): number => Math.ceil(ms / 1_000) * 1_000
const stated = (window: number | undefined): number | undefined =>
  Number.isInteger(window) ? window : undefined

/** What the drafts that name their policies are to be read as. */
const named = ({ policies }: Report): ReadPolicy[] =>
  policies.map(({ policy, limit, remaining, windowSeconds, moreAfterMs, partitionKey, unit }) => ({
    policy,
    limit: shownCount(limit),
    remaining: shownCount(remaining),
    windowSeconds: stated(windowSeconds),
    moreAfterMs: moreAfterMs === null || windowSeconds === undefined ? undefined : secondsUp(moreAfterMs),
    partitionKey,
    unit,
  }))

/** What those are to be read as that speak of one policy. @param listed whether they list the quotas of all */
function one(report: Report, listed: boolean): ReadPolicy[] | undefined {
  const spoken = report.policies.filter(({ windowSeconds }) => windowSeconds !== undefined)
  if (spoken.length === 0) return undefined
  const tightest = spoken.reduce((a, b) =>
    b.remaining < a.remaining || (b.remaining === a.remaining && b.resetAfterMs! > a.resetAfterMs!) ? b : a,
  )
  const windowOf = ({ windowSeconds }: ReportedPolicy): number | undefined =>
    listed ? stated(windowSeconds) : undefined
  const others = spoken.filter(({ limit }) => listed && limit !== tightest.limit)
  return [
    {
      limit: shownCount(tightest.limit),
      remaining: shownCount(tightest.remaining),
      resetAfterMs: secondsUp(tightest.resetAfterMs!),
      windowSeconds: windowOf(tightest),
    },
    ...others.map((other) => ({ limit: shownCount(other.limit), windowSeconds: windowOf(other) })),
  ]
}

/** By a dialect's name: what its lines in dialects.lines.ts are to be read as. The last dialect of the list, `github`, adds a name. */
export const readings: Readonly<Record<string, (report: Report) => ReadPolicy[] | undefined>> = {
  ietf: named,
  'ietf-next': named,
  'draft-03': (report) => one(report, true),
  'draft-06': (report) => one(report, true),
  'draft-07': (report) => one(report, true),
  'x-ratelimit': (report) => one(report, false),
  'x-ratelimit-epoch': (report) => one(report, false),
}
