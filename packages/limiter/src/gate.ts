/** What adapters are built on: requests in, verdicts out. For adapters made by others. */
export { createGate, type Gate } from './adapters/gate/gate.ts'
export type {
  FrameworkArgs,
  IncomingRequest,
  PerRequest,
  ResponseOutcome,
} from './adapters/gate/incoming-request.ts'
export type { GateOptions } from './adapters/gate/options/options.ts'
export type { RateLimitInfo } from './adapters/gate/verdict/info.ts'
export type { Refusal } from './adapters/gate/verdict/refusal.ts'
export type { Verdict } from './adapters/gate/verdict/verdict.ts'
export type { Timers } from './flow/timers.ts'
export { WaitingRoom } from './flow/waiting-room.ts'
