/** What `/v1/live` sends, and what can be made of it: for pages and programs that follow a service. */
export {
  durationText,
  keyText,
  msText,
  rateText,
  shareText,
  wholeText,
} from './observe/live/figure-text.ts'
export type { LatencyQuantiles } from './observe/live/latency-counts.ts'
export type {
  LiveHistory,
  LivePolicy,
  LiveRequests,
  LiveRow,
  LiveRulebook,
  LiveSecond,
  LiveStore,
} from './observe/live/live-second.ts'
export {
  decisionsOf,
  type LiveSummary,
  LiveWindow,
  overLimit,
  policyId,
  summaryOf,
} from './observe/live/live-window.ts'
export { type VerdictPart, verdictOf } from './observe/live/verdict.ts'
