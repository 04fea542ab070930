import {
  type Clock,
  createLimiter,
  type Decision,
  type LimiterPolicy,
  MemoryStore,
  monotonicClock,
} from '@sluice/limiter'
import {
  anything,
  checkOptions,
  func,
  having,
  listOf,
  type OptionCheck,
  objectOf,
  oneOf,
  recordOf,
  wholeFrom,
} from '@sluice/limiter/options'
import { MOCK_DIALECTS, type MockDialect } from './mock-dialects.ts'
import { faultsCheck, type MockFaults } from './mock-faults.ts'

/** A call, as the mock decides it. */
export interface MockCall {
  readonly method: string
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The Authorization header, or x-api-key, or else the same for all. */
  readonly key: string
}

/** What decides calls. */
export interface MockLimiter {
  decide(call: MockCall): Decision | Promise<Decision>
  /** Is called when the answer to an admitted call has ended: releases the slots of `concurrency`. */
  release?(decision: Decision): unknown
}

export interface MockOptions {
  /** By name. Default: `{ requests: { algorithm: 'fixed-window', limit: 10, period: '2s' } }`. */
  readonly policies?: Readonly<Record<string, LimiterPolicy>>
  /** Decides in place of `policies`: a pipeline's rules, a store that others share. */
  readonly limiter?: MockLimiter
  /** One or several. Default `ietf`. */
  readonly dialect?: MockDialect | readonly MockDialect[]
  /** Status of refusals. Default 429. */
  readonly status?: number
  /** How Retry-After is written, and whether. Default `seconds`. */
  readonly retryAfter?: 'seconds' | 'date' | 'none'
  readonly faults?: MockFaults
  /** Of 127.0.0.1: no other can be reached. Default: any that is free. */
  readonly port?: number
  readonly random?: () => number
  /** Of the policies. Default: the process's monotonic clock. */
  readonly clock?: Clock
}

const DIALECT: OptionCheck = /* @__PURE__ */ oneOf(...MOCK_DIALECTS)

const OPTIONS: OptionCheck = /* @__PURE__ */ objectOf<MockOptions>({
  policies: /* @__PURE__ */ recordOf(anything, 'an object of policies by name'),
  limiter: /* @__PURE__ */ having('a limiter', 'decide'),
  dialect: (value, path) => (Array.isArray(value) ? listOf(DIALECT) : DIALECT)(value, path),
  status: /* @__PURE__ */ wholeFrom(400, 599),
  retryAfter: /* @__PURE__ */ oneOf('seconds', 'date', 'none'),
  faults: faultsCheck,
  port: /* @__PURE__ */ wholeFrom(0, 65_535),
  random: func,
  clock: /* @__PURE__ */ having('a clock', 'now'),
})

/** @throws ConfigError for options that there are not, or that are wrong */
export function checkMockOptions(options: MockOptions): void {
  checkOptions(options, OPTIONS)
}

/** @throws ConfigError for policies that are wrong */
export function limiterIn({
  limiter,
  policies = DEFAULT_POLICIES,
  clock = monotonicClock(),
}: MockOptions): MockLimiter {
  if (limiter !== undefined) return limiter
  const own = createLimiter({ policies, store: new MemoryStore({ clock }) })
  return { decide: ({ key }) => own.check(key), release: (decision) => own.refund(decision, 0) }
}

const DEFAULT_POLICIES: Readonly<Record<string, LimiterPolicy>> = {
  requests: { algorithm: 'fixed-window', limit: 10, period: '2s' },
}
