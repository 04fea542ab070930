export { type Clock, monotonicClock, turnClock } from './clock.ts'
export type { AlgorithmName, Policy } from './core/decide/algorithms.ts'
export type { CostByName } from './core/decide/cost.ts'
export type { Decision, PolicyFigures } from './core/decide/decision.ts'
export type { CalendarPeriod } from './core/decide/policy.ts'
export { ConfigError, SluiceError, StoreError } from './core/errors.ts'
export { ipKey } from './core/identify/ip.ts'
export type { Duration } from './core/time.ts'
export { LimitExceeded } from './limit-exceeded.ts'
export {
  type CostOption,
  createLimiter,
  type DecisionBy,
  type Limiter,
  type LimiterOptions,
  type LimiterPolicy,
  type ReserveOptions,
} from './limiter.ts'
export type { MaybePromise } from './maybe-promise.ts'
export type { Key, Keys } from './policy-steps.ts'
export type { Reservation } from './reservation.ts'
export { MemoryStore, type MemoryStoreOptions } from './stores/memory.ts'
export type { Store } from './stores/store.ts'
export type { Taken } from './take-up-to.ts'
