export type { AnswerLimits, StatedLimit } from './answers/answer-limits.ts'
export { type Answer, type ReadAnswerOptions, readAnswerLimits } from './answers/answer-reader.ts'
export type { HeaderSource } from './answers/header-source.ts'
export { BudgetExceeded } from './outbound/budget-exceeded.ts'
export {
  createOutbound,
  type LimitedFetch,
  type Outbound,
  outbound,
  type RunOptions,
} from './outbound/outbound.ts'
export type { CallOptions, Destination, OutboundOptions } from './outbound/outbound-options.ts'
export { type ModelTokensOptions, modelTokens, type UsageReader } from './outbound/usage.ts'
export type { ThrottleOptions } from './retry/adaptive-throttle.ts'
export type { BackoffKind, BackoffOptions } from './retry/backoff.ts'
export type { GivenUpReason } from './retry/given-up-reason.ts'
export type { FetchCall } from './retry/repeatable.ts'
export type { RetryBudgetOptions } from './retry/retry-budget.ts'
export type { RetryOptions } from './retry/retry-options.ts'
export { type FetchFunction, type FetchOf, retrying } from './retry/retrying.ts'
export { Throttled, type ThrottledOptions, type ThrottledReason } from './retry/throttled.ts'
