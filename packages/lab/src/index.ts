export { type DrillOptions, type DrillReport, runDrill } from './drill/run-drill.ts'
export { restartBy, STORE_FAILURES, type StoreFailure } from './drill/store-failures.ts'
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
export { isOwnTarget } from './load/own-target.ts'
export {
  type AskedRequest,
  hasKeys,
  originOf,
  type RequestTemplate,
  requestMaker,
} from './load/request-template.ts'
export { asCheck, asRequest, type PassedRule, type RuleCase, ruleCases } from './load/rules/rule-case.ts'
export { type Admissions, type RuleResult, type TryOptions, tryRules } from './load/rules/try-rules.ts'
export { type LoadFigures, type OverAdmission, type RunLoadOptions, runLoad } from './load/run-load.ts'
