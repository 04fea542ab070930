export type { AnswerLimits, StatedLimit } from './answers/answer-limits.ts'
export { readAnswerLimits } from './answers/answer-reader.ts'
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
export { Throttled } from './retry/throttled.ts'
