import type { Clock, Decision, Key, Keys, Limiter } from '@sluice/limiter'
import type { Observer } from '@sluice/limiter/events'
import {
  above0,
  anyOf,
  type CallFields,
  func,
  having,
  listOf,
  type OptionCheck,
  objectOf,
  oneOf,
  recordOf,
  textCheck,
  wholeFrom,
} from '@sluice/limiter/options'
import type { Pipeline } from '@sluice/limiter/pipeline'
import type { Timers } from '@sluice/limiter/time'
import type { AnswerLimits } from '../answers/answer-limits.ts'
import type { Answer } from '../answers/answer-reader.ts'
import { maxWaitCheck, offCheck } from '../retry/retry-options.ts'
import type { OutboundCost, OutboundRequest } from './outbound-request.ts'
import type { UsageReader } from './usage.ts'

/** What happens to a call over a limit: it waits for its turn, is refused at once, or is answered by the `fallback`. */
export type OnOutboundLimit = 'queue' | 'reject' | 'degrade'

/** A limiter or a pipeline whatever its names and its store are. */
// biome-ignore lint/suspicious/noExplicitAny: a limiter's names, its store and its fields are of no concern here
type OutboundLimiter = Limiter<any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: nor is a pipeline's store
type OutboundPipeline = Pipeline<any>

/** Where calls go, and what limits them there. The first destination that a call fits counts. */
export interface Destination {
  /** In events and errors. Default: the origin of each call. */
  readonly name?: string
  /** Such as `https://api.example.com`, or `https://*.example.com`; default: any. */
  readonly origin?: string | readonly string[]
  /** Paths, as in a rulebook: `/v1/**`. Default: any. */
  readonly path?: string | readonly string[]
  /** The limits, by policies. */
  readonly limiter?: OutboundLimiter
  /** The limits, by a rulebook's rules: they see the call's method, host, path, query, headers and `attributes`. */
  readonly pipeline?: OutboundPipeline
  /** Of the pipeline's rules. Default `outbound`. */
  readonly domain?: string
  /**
   * Who shares the limits and what answers say: an API key, or a tenant. Calls of different keys do not hold each other
   * back, and share fairly what they have in common. Default: the host.
   */
  readonly key?: (request: OutboundRequest) => Key | Keys
  /** What a call costs; an estimate, where `usage` says more later. Default 1. */
  readonly cost?: OutboundCost | ((request: OutboundRequest) => OutboundCost)
  /** What else rules may ask for: `tenant`, `attribute:NAME`. The key is the attribute `key`. */
  readonly attributes?: (request: OutboundRequest) => Readonly<Record<string, string | number | undefined>>
  /** For all limits, or by their names (others: `queue`). Default `queue`. */
  readonly onLimit?: OnOutboundLimit | Readonly<Record<string, OnOutboundLimit>>
  /** Answers for `degrade`. */
  readonly fallback?: (request: OutboundRequest, decision: Decision) => unknown
  /** Reads the actual cost from answers. */
  readonly usage?: UsageReader
}

export interface OutboundOptions {
  readonly destinations?: readonly Destination[]
  /** Milliseconds, 0 or more: the longest wait that calls accept. Default 60,000. */
  readonly maxWaitMs?: number
  /** Calls that wait at once; more are refused. Default 1,000. */
  readonly maxWaiting?: number
  /** Of them, for one key and the same limits. Default: all. */
  readonly maxWaitingPerKey?: number
  /** How much a key gets beside others, where they share a limit: a number above 0. Default 1. */
  readonly weightOf?: (key: string) => number
  /** `even` spreads what an answer leaves over the time until it is new again. Default `asap`. */
  readonly pace?: 'asap' | 'even'
  /** Milliseconds: no answer pauses a destination for longer. Default 3,600,000. */
  readonly maxPauseMs?: number
  /** Reads what an answer says of limits; `false`: answers are not read. Default: all dialects that are known. */
  readonly read?: false | ((answer: Answer) => AnswerLimits | undefined)
  /** Is called with every event. */
  readonly observe?: Observer
  /** Is called with a line when calls are refused here, once a minute at most for each destination. */
  readonly log?: (line: string) => void
  /** Default: the process's monotonic clock. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly timers?: Timers
}

/** What a single call may say. */
export interface CallOptions {
  readonly key?: Key | Keys
  readonly cost?: OutboundCost
  /** How urgent it is, as RFC 9218 counts: 0, which comes first, to 7. Default 3. */
  readonly priority?: number
  /** Milliseconds, 0 or more: the longest wait that it accepts. */
  readonly maxWaitMs?: number
  readonly signal?: AbortSignal
  readonly attributes?: Readonly<Record<string, string | number | undefined>>
}

/** What the options of a call are; some are checked where they are used. */
export const CALL_FIELDS: CallFields = /* @__PURE__ */ new Map([
  ['key', ''],
  ['cost', ''],
  ['priority', 'number'],
  ['maxWaitMs', 'number'],
  ['signal', 'object'],
  ['attributes', 'object'],
])

const MODE = /* @__PURE__ */ oneOf('queue', 'reject', 'degrade')
const TEXTS = /* @__PURE__ */ anyOf(textCheck, /* @__PURE__ */ listOf(textCheck))

const DESTINATION = /* @__PURE__ */ objectOf<Destination>({
  name: textCheck,
  origin: TEXTS,
  path: TEXTS,
  limiter: /* @__PURE__ */ having('a limiter', 'match', 'check'),
  pipeline: /* @__PURE__ */ having('a pipeline', 'match', 'respond'),
  domain: textCheck,
  key: func,
  cost: /* @__PURE__ */ anyOf(wholeFrom(0), func, /* @__PURE__ */ recordOf(wholeFrom(0))),
  attributes: func,
  onLimit: /* @__PURE__ */ anyOf(MODE, /* @__PURE__ */ recordOf(MODE)),
  fallback: func,
  usage: func,
})

/** What calls over a limit of this name do, where names are known. */
export function modeByPolicyCheck(names: readonly string[]): OptionCheck {
  return objectOf<Record<string, OnOutboundLimit>>(Object.fromEntries(names.map((name) => [name, MODE])))
}

export const outboundCheck: OptionCheck = /* @__PURE__ */ objectOf<OutboundOptions>({
  destinations: /* @__PURE__ */ listOf(DESTINATION),
  maxWaitMs: maxWaitCheck,
  maxWaiting: /* @__PURE__ */ wholeFrom(0),
  maxWaitingPerKey: /* @__PURE__ */ wholeFrom(0),
  weightOf: func,
  pace: /* @__PURE__ */ oneOf('asap', 'even'),
  maxPauseMs: /* @__PURE__ */ above0(Number.MAX_SAFE_INTEGER),
  read: /* @__PURE__ */ anyOf(offCheck, func),
  observe: func,
  log: func,
  clock: /* @__PURE__ */ having('a clock', 'now'),
  timers: /* @__PURE__ */ having('timers', 'setTimeout', 'clearTimeout'),
})
