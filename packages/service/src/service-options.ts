import { tarpitCheck } from '@sluice/limiter/decide'
import type { Timers } from '@sluice/limiter/gate'
import {
  anyOf,
  flag,
  func,
  having,
  listOf,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  textCheck,
  that,
  under,
  wholeFrom,
} from '@sluice/limiter/options'
import { type PipelineOptions, respondCheck } from '@sluice/limiter/pipeline'
import { type DenyCacheOptions, denyCacheFields } from '@sluice/limiter/stores/deny-cache'
import { type FallbackOptions, fallbackFields } from '@sluice/limiter/stores/fallback'
import { type PrefetchOptions, prefetchFields } from '@sluice/limiter/stores/prefetch'
import { type Store, storeCheck } from '@sluice/limiter/stores/store'
import { tokenCheck } from '@sluice/observe/parts'
import { addressOf, grpcAddressOf } from './address.ts'
import { type AuthOptions, authCheck } from './auth/auth-options.ts'
import type { Bounds } from './bounds.ts'
import { LOG_LEVELS, type LogOptions } from './observe/log.ts'
import { type RecordOptions, recordFields } from './record/record-options.ts'
import { type RlqsOptions, rlqsFields } from './rlqs/options.ts'
import { type RlsOptions, rlsFields } from './rls/options.ts'
import type { WatchOptions } from './rules/rules-watcher.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { type TlsFiles, tlsCheck } from './tls-files.ts'
import { type WebhookOptions, webhookFields } from './webhook/webhook-options.ts'
import { type XdsOptions, xdsFields } from './xds/xds-options.ts'

export interface ServiceOptions {
  /** Files and folders of the rulebook. */
  readonly rules: readonly string[]
  /** A server that sends the rules, in place of files: then `rules` is empty. Default: none. */
  readonly xds?: XdsOptions
  /** Makes `unit: month` of descriptors a month of the calendar, in UTC, in place of 30 days. Default false. */
  readonly calendarMonths?: boolean
  /** Reloads when the files change. Default true. */
  readonly watch?: boolean | WatchOptions
  /**
   * Default: a MemoryStore. One outside this process is asked through a FallbackStore, a DenyCache and a
   * PrefetchStore. Whoever gives a store closes it.
   */
  readonly store?: Store
  readonly fallback?: Omit<FallbackOptions, 'observe'>
  /** How refusals of a store outside this process are repeated; `false`: it is always asked. */
  readonly denyCache?: boolean | Omit<DenyCacheOptions, 'observe'>
  /** How units of rules with a `prefetch` are taken ahead of a store outside this process. */
  readonly prefetch?: Omit<PrefetchOptions, 'observe'>
  /**
   * `store`: a store that does not answer makes the service unready. Default: it is a warning, since every rule says
   * what happens then.
   */
  readonly readiness?: 'store'
  /** `HOST:PORT` of the API. Default `127.0.0.1:8080`; port 0 is any free one. */
  readonly http?: string
  /** `HOST:PORT` or `unix:PATH` for gRPC: Envoy's rate limit service, health, reflection. Default: it is not spoken. */
  readonly grpc?: string
  /** Files of TLS for gRPC, which are read again when they change. Default: none. */
  readonly grpcTls?: TlsFiles
  /** How requests of Envoy's rate limit API are answered, over gRPC and at `/json`. */
  readonly rls?: RlsOptions
  /** How limits with `assign: rlqs` are assigned to proxies, over gRPC. */
  readonly rlqs?: RlqsOptions
  /**
   * `HOST:PORT` of the admin address. Default `127.0.0.1:6070`. One that other machines reach needs `adminToken`,
   * `adminTls` with a `clientCa`, or `adminOpen`.
   */
  readonly admin?: string
  /** Files of TLS for the admin address, which are read again when they change. Default: none. */
  readonly adminTls?: TlsFiles
  /** The admin address may be reached by other machines with neither token nor certificate. Default false. */
  readonly adminOpen?: boolean
  /**
   * Names, without port, under which the admin address may also be asked, such as `sluice-admin.internal`. Others than
   * its own are refused, so that no page can reach it by a name of the page's own.
   */
  readonly adminHosts?: readonly string[]
  /** What calls of the admin address must bring: `authorization: Bearer TOKEN`, 16 characters or more. Default: nothing. */
  readonly adminToken?: string
  /**
   * How the lists of offenders show keys: `plain`, as rules make them (API keys and cookies are hashed there already), or
   * `hashed`, addresses and users too. Default `plain`.
   */
  readonly offenderKeys?: 'plain' | 'hashed'
  /** Where keys are posted that are new in the lists of offenders, or refused more often than before. Default: nowhere. */
  readonly offendersWebhook?: WebhookOptions
  /** How proxies are answered, at `/auth`. */
  readonly auth?: AuthOptions
  /** How answers are put into headers. */
  readonly respond?: NonNullable<PipelineOptions<boolean>['respond']>
  /**
   * For how long answers that refuse are held back, where the limit does not say: milliseconds or text, up to `1m`; of
   * 1,000 at once. Default: not at all.
   */
  readonly tarpit?: number | string
  /** Default: the platform's. */
  readonly timers?: Timers
  /**
   * Encrypts the ids of reservations, and keys the hashes of API keys, cookies and long values. Nodes that share a store must share
   * it. Default: reservations are good at this process alone.
   */
  readonly secret?: string
  readonly bounds?: Partial<Bounds>
  /** Milliseconds that `stop` gives to requests in flight. Default 10,000. */
  readonly drainMs?: number
  /** Of these, milliseconds for which `stop` leaves idle connections open for a last request. Default 2,000. */
  readonly idleMs?: number
  readonly log?: LogOptions
  /** Writes what is asked, and what is answered, to a file, to be replayed. Default: nothing is written. */
  readonly record?: RecordOptions
  /** Spans and metrics by OpenTelemetry: `openTelemetry()` of `@sluice/service/opentelemetry`. Default: none. */
  readonly telemetry?: Telemetry
  /** Milliseconds since the epoch, for headers that carry dates and for `since`. Default `Date.now`. */
  readonly wallClock?: () => number
}

/** The service is what observes its stores. */
function unobserved<T extends { readonly observe?: unknown }>({
  observe: _,
  ...fields
}: OptionFields<T>): OptionCheck {
  return objectOf<Omit<T, 'observe'>>(fields as unknown as OptionFields<Omit<T, 'observe'>>)
}

const address: OptionCheck = (value, path) => {
  if (typeof value !== 'string') return ['text: HOST:PORT']
  under([...path], () => addressOf(value))
  return undefined
}

const grpcAddress: OptionCheck = (value, path) => {
  if (typeof value !== 'string') return ['text: HOST:PORT or unix:PATH']
  under([...path], () => grpcAddressOf(value))
  return undefined
}

const bound = wholeFrom(1)
const fromZero = that('milliseconds from 0', (value) => Number.isFinite(value) && (value as number) >= 0)

/** What the options of a service may be. */
export const serviceOptions: OptionCheck = objectOf<ServiceOptions>(
  {
    rules: listOf(textCheck, 'a list of files and folders'),
    xds: objectOf<XdsOptions>(xdsFields, ['server']),
    calendarMonths: flag,
    watch: anyOf(flag, objectOf<WatchOptions>({ settleMs: bound, pollMs: bound })),
    store: storeCheck,
    fallback: unobserved<FallbackOptions>(fallbackFields),
    denyCache: anyOf(flag, unobserved<DenyCacheOptions>(denyCacheFields)),
    prefetch: unobserved<PrefetchOptions>(prefetchFields),
    readiness: oneOf('store'),
    http: address,
    grpc: grpcAddress,
    grpcTls: tlsCheck,
    rls: objectOf<RlsOptions>(rlsFields),
    rlqs: objectOf<RlqsOptions>(rlqsFields),
    admin: address,
    adminTls: tlsCheck,
    adminOpen: flag,
    adminHosts: listOf(textCheck),
    adminToken: tokenCheck,
    offenderKeys: oneOf('plain', 'hashed'),
    offendersWebhook: objectOf<WebhookOptions>(webhookFields, ['url']),
    auth: authCheck,
    tarpit: tarpitCheck,
    timers: having('timers', 'setTimeout', 'clearTimeout'),
    respond: respondCheck,
    secret: textCheck,
    bounds: objectOf<Partial<Bounds>>({
      maxTextLength: bound,
      maxEntries: bound,
      maxBatch: bound,
      maxBodyBytes: bound,
      maxBatchBytes: bound,
      maxBytesInFlight: bound,
      requestTimeoutMs: bound,
      idleTimeoutMs: bound,
      maxConnections: bound,
    }),
    drainMs: fromZero,
    idleMs: fromZero,
    log: objectOf<LogOptions>({
      level: oneOf(...LOG_LEVELS),
      stream: having('a stream', 'write'),
      refusals: oneOf('hashed', 'plain', 'off'),
    }),
    record: objectOf<RecordOptions>(recordFields, ['file']),
    telemetry: having('what openTelemetry() makes', 'observe', 'start'),
    wallClock: func,
  },
  ['rules'],
  { what: 'an object with rules, such as { rules: ["rules/"] }' },
)
