/** Traffic in, evidence out: what rules would do with a log, and which limits fit it. */
export { type CompareOptions, compareRules, type RulesOfDomain } from './compare/compare.ts'
export type { Change, Comparison, RulebookTotals } from './compare/comparison.ts'
export { LabError } from './lab-error.ts'
export { reportPage } from './report/report-page.ts'
export { ReportTally } from './report/report-tally.ts'
export type {
  KeyFigures,
  LimitFigures,
  QuotaFigures,
  RateCount,
  Timeline,
  TrafficFigures,
  WaitCount,
} from './report/traffic-figures.ts'
export type { Fate } from './simulate/decider.ts'
export { descriptorsFrom } from './simulate/descriptors.ts'
export type { PolicyReport, SimulationReport } from './simulate/report.ts'
export { type SimulateOptions, simulateTraffic, type TrafficOptions } from './simulate/simulate-traffic.ts'
export type { Unreadable } from './traffic/entry.ts'
export { FORMATS, type Format } from './traffic/formats.ts'
export { textLines } from './traffic/line-feed.ts'
export { HELD_LINES } from './traffic/read-source.ts'
export { sourcesOf, type TrafficSource } from './traffic/source.ts'
export { type UsageOptions, usageOf } from './usage/usage.ts'
export type { CallerUsage, UsageDay } from './usage/usage-day.ts'
