/** Traffic in, evidence out: what rules would do with a log, and which limits fit it. */

export { type CompareOptions, compareRules } from './compare/compare.ts'
export type { BothFates } from './compare/compare-study.ts'
export type { Change, Comparison, RulebookTotals } from './compare/comparison.ts'
export { type DrillOptions, type DrillReport, runDrill } from './drill/run-drill.ts'
export { restartBy, STORE_FAILURES, type StoreFailure } from './drill/store-failures.ts'
export type { AnswerThen } from './explain/answer-then.ts'
export { type ExplainedPast, explainPast, namedSpan, type PastChoice } from './explain/explain-past.ts'
export {
  type PastDecision,
  type PastOptions,
  type PastRequest,
  pastDecisions,
} from './explain/past-decisions.ts'
export type { RaisedLimit, Remedies } from './explain/remedies.ts'

export type { JobOptions } from './jobs/run-study.ts'
export { LabError } from './lab-error.ts'
export { type AdmissionBound, boundOf, statedBound } from './load/admission-bound.ts'
export { AdmissionCount, type DecidedBetween } from './load/admission-count.ts'
export type { LoadAnswer, TimedAnswer } from './load/answer.ts'
export { type Arrival, arrivalsOf, type LoadShape } from './load/arrivals.ts'
export { FAULTS, type FaultName, type Finding } from './load/faults/fault.ts'
export { checkAnswers, type FaultReport, findFaults } from './load/faults/find-faults.ts'
export type { SubjectOptions } from './load/faults/subject.ts'
export { createSender, type LoadSender, type SenderOptions } from './load/http-sender.ts'
export { seededRandom, zipfRanks } from './load/keys.ts'
export type { Latency } from './load/latency.ts'
export { logArrivals } from './load/log-arrivals.ts'
export { isOwnTarget } from './load/own-target.ts'
export {
  hasKeys,
  originOf,
  type RequestTemplate,
  requestMaker,
  type SentRequest,
} from './load/request-template.ts'
export { asCheck, asRequest, type PassedRule, type RuleCase, ruleCases } from './load/rules/rule-case.ts'
export { type Admissions, type RuleResult, type TryOptions, tryRules } from './load/rules/try-rules.ts'
export { type LoadFigures, type OverAdmission, type RunLoadOptions, runLoad } from './load/run-load.ts'
export type {
  ChangedKey,
  ChangeTimeline,
  ComparedLimit,
  ComparisonFigures,
} from './report/comparison-figures.ts'
export { ComparisonTally } from './report/comparison-tally.ts'
export { reportPage } from './report/report-page.ts'
export { ReportTally } from './report/report-tally.ts'
export type {
  KeyTraffic,
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
export type { RulesOfDomain } from './simulate/simulate-study.ts'
export { type SimulateOptions, simulateTraffic, type TrafficOptions } from './simulate/simulate-traffic.ts'
export type { KeyDemand } from './suggest/demand.ts'
export { type SuggestOptions, suggestLimits } from './suggest/suggest-limits.ts'
export type { AlgorithmSuggestion, KeyAbove, SuggestedPoint, Suggestion } from './suggest/suggestion.ts'
export type { Denied, ShareOf } from './suggest/trial.ts'
export type { Unreadable } from './traffic/entry.ts'
export { type RecordedAnswer, recordedAnswer } from './traffic/formats/record.ts'
export { FORMATS, type Format } from './traffic/formats.ts'
export { textLines } from './traffic/line-feed.ts'
export { HELD_LINES } from './traffic/read-source.ts'
export { sourcesOf, type TrafficSource } from './traffic/source.ts'
export { type UsageOptions, usageOf } from './usage/usage.ts'
export type { CallerUsage, UsageDay } from './usage/usage-day.ts'
