import { UsageError } from '../usage-error.ts'

/** What a value means here: settings by the names of `sluice serve`, a note on what has no effect, or neither. */
type Meaning =
  | { readonly settings: Readonly<Record<string, string>> }
  | { readonly note: string }
  | Record<string, never>

/** @throws UsageError for a value that cannot be understood, or must not be ignored */
export type EnvoyVariable = (value: string, name: string) => Meaning

const NOTHING: Meaning = {}
const taken: EnvoyVariable = () => NOTHING
/** It changes nothing, or is always so. */
const noted =
  (note: string): EnvoyVariable =>
  () => ({ note })
const refused =
  (hint: string): EnvoyVariable =>
  (_value, name) => {
    throw new UsageError(`${name} is not supported: ${hint}`)
  }
const flag =
  (ifTrue: EnvoyVariable, ifFalse: EnvoyVariable = taken): EnvoyVariable =>
  (value, name) => {
    if (/^(?:1|t|true)$/i.test(value)) return ifTrue(value, name)
    if (/^(?:0|f|false)$/i.test(value)) return ifFalse(value, name)
    throw new UsageError(`${name} must be true or false, not ${JSON.stringify(value)}`)
  }
const setting =
  (own: string, text: (value: string, name: string) => string = (value) => value): EnvoyVariable =>
  (value, name) => ({ settings: { [own]: text(value, name) } })
const oneOf =
  (choices: Readonly<Record<string, EnvoyVariable>>): EnvoyVariable =>
  (value, name) => {
    const found = choices[value.toUpperCase()]
    if (found === undefined)
      throw new UsageError(
        `${name} must be one of ${Object.keys(choices).join(', ')}, not ${JSON.stringify(value)}`,
      )
    return found(value, name)
  }

/** A duration of Go: `1h30m`, `24h`, `500ms`. */
function duration(value: string, name: string): string {
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([text]) => text).join('') !== value)
    throw new UsageError(`${name} must be a duration such as 24h, not ${JSON.stringify(value)}`)
  const length: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
  return `${parts.reduce((sum, [, count, unit]) => sum + Number(count) * length[unit!]!, 0)}ms`
}

const METRICS = 'metrics are at /metrics of the admin address, for Prometheus'
const MEMCACHE = 'counters are kept in memory or in a Redis'
const XDS_WAITS = 'a server of rules is asked again after 1 s, then less often, up to 30 s'
const POOL = 'one connection is enough, commands go in batches'
const TLS_FILES = 'a Redis over TLS is checked by the authorities of the system; NODE_EXTRA_CA_CERTS adds one'
const TRACING = 'the service sends no traces'
const PER_SECOND = 'counters of all units are in one Redis'

/** Those that are read together, in envoy-environment.ts. */
const TOGETHER = [
  'HOST',
  'PORT',
  'DEBUG_HOST',
  'DEBUG_PORT',
  'GRPC_HOST',
  'GRPC_PORT',
  'GRPC_UDS',
  'GRPC_SERVER_USE_TLS',
  'GRPC_SERVER_TLS_CERT',
  'GRPC_SERVER_TLS_KEY',
  'GRPC_CLIENT_TLS_CACERT',
  'GRPC_CLIENT_TLS_SAN',
  'RUNTIME_ROOT',
  'RUNTIME_SUBDIRECTORY',
  'RUNTIME_APPDIRECTORY',
  'LIMIT_RESPONSE_HEADERS_ENABLED',
  'LIMIT_LIMIT_HEADER',
  'LIMIT_REMAINING_HEADER',
  'LIMIT_RESET_HEADER',
  'REDIS_SOCKET_TYPE',
  'REDIS_TYPE',
  'REDIS_URL',
  'REDIS_AUTH',
]

const LEVELS: Readonly<Record<string, string>> = {
  PANIC: 'fatal',
  FATAL: 'fatal',
  ERROR: 'error',
  WARN: 'warn',
  WARNING: 'warn',
  INFO: 'info',
  DEBUG: 'debug',
  TRACE: 'trace',
}

/** Every variable that envoyproxy/ratelimit reads. */
export const variables: ReadonlyMap<string, EnvoyVariable> = new Map<string, EnvoyVariable>([
  ...TOGETHER.map((name) => [name, taken] as const),
  ['GRPC_SERVER_USE_TLS', flag(taken)],
  ['LIMIT_RESPONSE_HEADERS_ENABLED', flag(taken)],
  ['GRPC_MAX_CONNECTION_AGE', setting('grpc-connection-age', duration)],
  ['GRPC_MAX_CONNECTION_AGE_GRACE', setting('grpc-connection-grace', duration)],
  [
    'LOG_LEVEL',
    oneOf(
      Object.fromEntries(
        Object.entries(LEVELS).map(([name, level]) => [name, setting('log-level', () => level)]),
      ),
    ),
  ],
  [
    'LOG_FORMAT',
    oneOf({ JSON: setting('log-format', () => 'json'), TEXT: setting('log-format', () => 'pretty') }),
  ],
  ['CONFIG_TYPE', oneOf({ FILE: taken, GRPC_XDS_SOTW: taken })],
  ['FORCE_START_WITHOUT_INITIAL_CONFIG', flag(noted('the service listens as soon as it has rules'))],
  ['RUNTIME_IGNOREDOTFILES', flag(noted('files are read that end in .yaml or .yml'))],
  [
    'RUNTIME_WATCH_ROOT',
    flag(noted('the rules are watched either way: files that are written, renamed or linked anew'), taken),
  ],
  ['MERGE_DOMAIN_CONFIG', flag(taken, noted('a domain may always be in several files'))],
  ['HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED', flag(taken, noted('the service is healthy only with rules'))],
  ['BACKEND_TYPE', oneOf({ REDIS: taken, MEMCACHE: refused(MEMCACHE) })],
  ['EXPIRATION_JITTER_MAX_SECONDS', noted('a counter is deleted when it can no longer be noticed')],
  [
    'LOCAL_CACHE_SIZE_IN_BYTES',
    noted('refusals are always repeated without asking the store, up to a bound'),
  ],
  ['NEAR_LIMIT_RATIO', setting('near-limit')],
  ['CACHE_KEY_PREFIX', refused('give each service a database of its own: redis://HOST:PORT/DB')],
  [
    'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT',
    flag(taken, noted('a request that is refused charges nothing, ever')),
  ],
  ['SHADOW_MODE', flag(setting('descriptors-shadow', () => 'true'))],
  ['QUOTA_MODE', flag(setting('descriptors-quota', () => 'true'))],
  ['RESPONSE_DYNAMIC_METADATA', flag(setting('dynamic-metadata', () => 'true'))],
  ['REDIS_TLS', flag(taken)],
  ['REDIS_TIMEOUT', noted('calls are decided within grpc-deadline, then by on_store_error of each rule')],
  ['REDIS_HEALTH_CHECK_ACTIVE_CONNECTION', flag(setting('readiness', () => 'store'))],
  ...[
    'REDIS_POOL_SIZE',
    'REDIS_PIPELINE_WINDOW',
    'REDIS_PIPELINE_LIMIT',
    'REDIS_CLUSTER_PIPELINE_PARALLELISM',
    'REDIS_POOL_ON_EMPTY_BEHAVIOR',
  ].map((name) => [name, noted(POOL)] as const),
  ...['REDIS_STARTUP_INITIAL_INTERVAL', 'REDIS_STARTUP_MAX_INTERVAL', 'REDIS_STARTUP_MAX_ELAPSED_TIME'].map(
    (name) => [name, noted('the service starts without its Redis, and connects when it is there')] as const,
  ),
  ...[
    'REDIS_TLS_CLIENT_CERT',
    'REDIS_TLS_CLIENT_KEY',
    'REDIS_TLS_CACERT',
    'REDIS_TLS_SKIP_HOSTNAME_VERIFICATION',
  ].map((name) => [name, refused(TLS_FILES)] as const),
  ['REDIS_SENTINEL_AUTH', refused('sentinels are asked with the login of REDIS_AUTH')],
  ['REDIS_PERSECOND', flag(refused(PER_SECOND))],
  ...[
    'SOCKET_TYPE',
    'TYPE',
    'URL',
    'POOL_SIZE',
    'AUTH',
    'TLS',
    'TIMEOUT',
    'PIPELINE_WINDOW',
    'PIPELINE_LIMIT',
    'SENTINEL_AUTH',
    'POOL_ON_EMPTY_BEHAVIOR',
    'CLUSTER_PIPELINE_PARALLELISM',
  ].map((name) => [`REDIS_PERSECOND_${name}`, noted(PER_SECOND)] as const),
  ...[
    'MEMCACHE_HOST_PORT',
    'MEMCACHE_MAX_IDLE_CONNS',
    'MEMCACHE_SRV',
    'MEMCACHE_SRV_REFRESH',
    'MEMCACHE_TLS',
    'MEMCACHE_TLS_CLIENT_CERT',
    'MEMCACHE_TLS_CLIENT_KEY',
    'MEMCACHE_TLS_CACERT',
    'MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION',
  ].map((name) => [name, refused(MEMCACHE)] as const),
  ['USE_STATSD', flag(refused(METRICS))],
  ['USE_DOG_STATSD', flag(refused(METRICS))],
  ...[
    'STATSD_HOST',
    'STATSD_PORT',
    'USE_DOG_STATSD_MOGRIFIERS',
    'STATS_FLUSH_INTERVAL',
    'DISABLE_STATS',
    'PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS',
  ].map((name) => [name, noted(METRICS)] as const),
  ['USE_PROMETHEUS', flag(taken, noted(METRICS))],
  ['PROMETHEUS_ADDR', noted(METRICS)],
  ['PROMETHEUS_PATH', oneOf({ '/METRICS': taken })],
  ['PROMETHEUS_MAPPER_YAML', refused('names of metrics are those of the standard mapping')],
  ['EXTRA_TAGS', refused('Prometheus adds labels by its scrape configuration')],
  ['TRACING_ENABLED', flag(refused(TRACING))],
  ...[
    'TRACING_SERVICE_NAME',
    'TRACING_SERVICE_NAMESPACE',
    'TRACING_SERVICE_INSTANCE_ID',
    'TRACING_EXPORTER_PROTOCOL',
    'TRACING_SAMPLING_RATE',
  ].map((name) => [name, noted(TRACING)] as const),
  ...[
    'NODE_ID',
    'NODE_METADATA',
    'SERVER_URL',
    'SERVER_CONNECT_RETRY_INTERVAL',
    'CLIENT_ADDITIONAL_HEADERS',
    'SERVER_USE_TLS',
    'CLIENT_TLS_CERT',
    'CLIENT_TLS_KEY',
    'SERVER_TLS_CACERT',
    'SERVER_TLS_SAN',
  ].map((name) => [`CONFIG_GRPC_XDS_${name}`, taken] as const),
  ...[
    'XDS_CLIENT_BACKOFF_INITIAL_INTERVAL',
    'XDS_CLIENT_BACKOFF_MAX_INTERVAL',
    'XDS_CLIENT_BACKOFF_RANDOM_FACTOR',
    'XDS_CLIENT_BACKOFF_JITTER',
    'XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES',
  ].map((name) => [name, noted(XDS_WAITS)] as const),
])

export const KNOWN: readonly string[] = [...variables.keys()]
