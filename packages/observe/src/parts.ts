/** What instruments are made of, for those who put them together otherwise, as the service does. */
export { bearerToken, tokenCheck } from './admin/bearer-token.ts'
export {
  type EventSource,
  EventStreams,
  eventText,
  nodeSink,
  type StreamSink,
} from './admin/event-streams.ts'
export { foreignPage, LOOPBACK, type PageRequest } from './admin/foreign-pages.ts'
export { type KeyCalls, keyCalls } from './admin/key-calls.ts'
export { type KeyFigures, type KeyVerbs, keyVerbs, type NamedKey } from './admin/key-verbs.ts'
export { liveCall } from './admin/live-call.ts'
export { offendersCall } from './admin/offenders-call.ts'
export { HttpError, PROBLEM_TYPE, problem } from './admin/problem.ts'
export { spikesCall } from './admin/spikes-call.ts'
export { type DashboardFile, dashboardFiles, OWN_PAGES_ONLY } from './dashboard/dashboard-files.ts'
export { everySecond } from './every-second.ts'
export { type KeyForm, keyShown } from './key-shown.ts'
export { LiveFigures, type LiveParts, type RulesState } from './live/live-figures.ts'
export type { PolicySeconds } from './live/policy-seconds.ts'
export { BucketCounts } from './metrics/bucket-counts.ts'
export { reportDurations } from './metrics/duration-metrics.ts'
export { type Kept, type KeptRow, keptCounter, keptGauge, keptHistogram } from './metrics/kept-metrics.ts'
export { type PolicyLabel, reportDecisions } from './metrics/policy-metrics.ts'
export { reportStore } from './metrics/store-metrics.ts'
export { type DomainTally, type PolicyTally, Tallies } from './metrics/tallies.ts'
export { type RefusalLines, RefusalLog, type RefusalLogParts } from './refusal-log.ts'
export { storeFails, type WatchedStore } from './store-fails.ts'
