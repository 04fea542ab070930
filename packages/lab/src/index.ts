/** Traffic in, evidence out: what rules would do with a log, and which limits fit it. */
export { type CompareOptions, compareRules, type RulesOfDomain } from './compare/compare.ts'
export type { Change, Comparison, RulebookTotals } from './compare/comparison.ts'
export { type ExplainedPast, explainPast, type PastChoice, spanOf } from './explain/explain-past.ts'
export {
  type PastDecision,
  type PastOptions,
  type PastRequest,
  pastDecisions,
} from './explain/past-decisions.ts'
export type { RaisedLimit, Remedies } from './explain/remedies.ts'
export { LabError } from './lab-error.ts'
export { descriptorsFrom } from './simulate/descriptors.ts'
export type { PolicyReport, SimulationReport } from './simulate/report.ts'
export { type SimulateOptions, simulateTraffic, type TrafficOptions } from './simulate/simulate-traffic.ts'
export type { Unreadable } from './traffic/entry.ts'
export { type RecordedAnswer, recordedAnswer } from './traffic/formats/record.ts'
export { FORMATS, type Format } from './traffic/formats.ts'
export { textLines } from './traffic/line-feed.ts'
export { HELD_LINES } from './traffic/read-source.ts'
export { sourcesOf, type TrafficSource } from './traffic/source.ts'
