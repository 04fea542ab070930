/** What `/v1/live` sends, and what can be made of it: for pages and programs that follow it. */
export {
  durationText,
  keyWords,
  msText,
  perSecondText,
  policyWords,
  shareText,
  wholeText,
} from './live/figure-text.ts'
export type { LatencyQuantiles } from './live/latency-counts.ts'
export type {
  LiveHistory,
  LivePolicy,
  LiveRequests,
  LiveRow,
  LiveRulebook,
  LiveSecond,
  LiveStore,
  PolicySecond,
  PolicySpike,
} from './live/live-second.ts'
export {
  decisionsOf,
  type LiveSummary,
  LiveWindow,
  overLimit,
  policyId,
  summaryOf,
} from './live/live-window.ts'
export { type VerdictPart, verdictOf } from './live/verdict.ts'
