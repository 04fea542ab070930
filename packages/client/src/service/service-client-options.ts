import { ConfigError } from '@sluice/limiter/errors'
import type { Observer } from '@sluice/limiter/events'
import {
  above0,
  checkOptions,
  func,
  having,
  type OptionCheck,
  objectOf,
  oneOf,
  textCheck,
  that,
  wholeFrom,
} from '@sluice/limiter/options'
import type { Pipeline } from '@sluice/limiter/pipeline'
import { type BreakerOptions, breakerFields } from '@sluice/limiter/stores/breaker'
import type { FetchFunction } from '../retry/retrying.ts'
import type { LeaseOptions } from './leases.ts'
import type { RefusalsOptions } from './refusals.ts'

/** What decides while the service does not: `open` admits, `closed` refuses with 503, `local` asks the pipeline given. */
export type OnServiceError = 'open' | 'closed' | 'local'

/** Decides without the service. */
export type LocalPipeline = Pick<Pipeline<boolean>, 'check' | 'peek'>

export interface ServiceClientOptions<Default extends string = string> {
  /** Where `sluice serve` answers, such as `http://127.0.0.1:8080`: http or https; a path before its own is kept. */
  readonly url: string
  /** The domain of questions that name none. */
  readonly domain?: Default
  /** Sent as `Authorization: Bearer`, for a proxy in front of the service. */
  readonly token?: string
  /** Default: the platform's. */
  readonly fetch?: FetchFunction
  /** Milliseconds in which a question is answered, waits included. Default 250. */
  readonly deadlineMs?: number
  /** What decides while the service does not answer. Default `open`. */
  readonly onError?: OnServiceError
  /** For `local`: rules of this process's share, over a store in process. */
  readonly local?: LocalPipeline
  /** When the service is no longer asked: after so many failed calls in a row. */
  readonly breaker?: BreakerOptions
  /** Questions in one call, from 1 to 1,000, the service's bound. Default 1,000. */
  readonly maxBatch?: number
  /** Calls with questions at once. Default 8. */
  readonly maxInFlight?: number
  /** Questions that wait for a call; others are decided by `onError` at once. Default 100,000. */
  readonly maxWaiting?: number
  /** How refusals are remembered and repeated. */
  readonly refusals?: RefusalsOptions
  /** Takes units ahead for limits of windows. Default: none. */
  readonly lease?: LeaseOptions
  /** Is called with an event for each answer, each call, and each change of the breaker. */
  readonly observe?: Observer
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

const URL_CHECK = /* @__PURE__ */ that(
  'a URL of http or https, without user, query and fragment',
  (value) =>
    typeof value === 'string' && URL.canParse(value) && /^https?:\/\/[^@?#]+$/i.test(new URL(value).href),
)

const TOKEN = /* @__PURE__ */ that(
  'visible ASCII characters',
  (value) => typeof value === 'string' && /^[!-~]+$/.test(value),
)

const OPTIONS: OptionCheck = /* @__PURE__ */ objectOf<ServiceClientOptions>(
  {
    url: URL_CHECK,
    domain: textCheck,
    token: TOKEN,
    fetch: func,
    deadlineMs: /* @__PURE__ */ above0(60_000),
    onError: /* @__PURE__ */ oneOf('open', 'closed', 'local'),
    local: /* @__PURE__ */ having('a pipeline', 'check', 'peek'),
    breaker: /* @__PURE__ */ objectOf<BreakerOptions>(breakerFields),
    maxBatch: /* @__PURE__ */ wholeFrom(1, 1_000),
    maxInFlight: /* @__PURE__ */ wholeFrom(1),
    maxWaiting: /* @__PURE__ */ wholeFrom(1),
    refusals: /* @__PURE__ */ objectOf<RefusalsOptions>({
      maxEntries: /* @__PURE__ */ wholeFrom(0),
      maxAgeMs: /* @__PURE__ */ above0(Number.POSITIVE_INFINITY),
    }),
    lease: /* @__PURE__ */ objectOf<LeaseOptions>(
      {
        units: /* @__PURE__ */ wholeFrom(1),
        clients: /* @__PURE__ */ wholeFrom(1),
        idleMs: /* @__PURE__ */ above0(3_600_000),
        maxLeases: /* @__PURE__ */ wholeFrom(1),
      },
      ['units'],
    ),
    observe: func,
    now: func,
  },
  ['url'],
)

/** @throws ConfigError */
export function checkServiceClientOptions(options: ServiceClientOptions): void {
  checkOptions(options, OPTIONS)
  checkOnError(options, options.onError ?? 'open')
}

/**
 * @throws ConfigError where nothing is given that could decide
 * @throws TypeError for another word, given with a call
 */
export function checkOnError({ local }: ServiceClientOptions, onError: OnServiceError): void {
  if (!ON_ERROR.includes(onError)) throw new TypeError(`onError must be ${ON_ERROR.join(', ')}`)
  if (onError === 'local' && local === undefined)
    throw new ConfigError('local must be given, for onError: local', { path: ['local'] })
}

const ON_ERROR: readonly OnServiceError[] = ['open', 'closed', 'local']
