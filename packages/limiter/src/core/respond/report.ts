import type { Decision } from '../decide/decision.ts'
import { checkOptions, func, type OptionFields, objectOf, oneOf, that, wholeFrom } from '../options.ts'
import { type Report, type ReportOptions, reportFor } from './dialect.ts'

/** What the options of a report may be. */
export const reportFields: OptionFields<ReportOptions> = {
  nowMs: that('milliseconds since the epoch', Number.isFinite),
  cost: wholeFrom(0),
  policies: oneOf('all', 'binding'),
  unit: func,
  partitionKey: func,
  retrySeconds: wholeFrom(0),
}
const OPTIONS = /* @__PURE__ */ objectOf(reportFields, ['nowMs'])

/**
 * What clients may know of a decision. Shadow policies are left out, and so are those that lower the priority where
 * others can refuse, and those whose figures are not known. A degraded decision reports none: no figures of it are those
 * of the quota.
 * @throws ConfigError for invalid options
 * @example
 * const report = reportOf(decision, { nowMs: Date.now() })
 * const headers = dialectsOf('ietf').flatMap((dialect) => dialect.headers(report))
 */
export function reportOf(decision: Decision, options: ReportOptions): Report {
  checkOptions(options, OPTIONS)
  return reportFor(decision, options)
}
