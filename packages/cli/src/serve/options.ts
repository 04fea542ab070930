import { dialects } from '@sluice/limiter/respond'
import { URL_FORMS } from '../redis-url.ts'
import { ENVOY_OPTIONS } from './envoy-options.ts'
import type { ServeOption, ServeOptionRows, ServeSettings } from './option-row.ts'

const LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/** Which file the settings are in: a flag or a variable, but not in the file itself. */
export const CONFIG: ServeOption = {
  kind: 'text',
  value: 'FILE',
  help: 'a YAML file with any of these settings, by these names',
  to: () => ({}),
}

/**
 * Every setting of `sluice serve`, by name. A row is a flag, a variable, a name in the settings file, a row of `--help`
 * and (`npm run settings`) of docs/cli.md. What a value may be is checked by `createService`.
 */
export const SERVE_OPTIONS: ServeOptionRows = {
  rules: {
    kind: 'paths',
    operands: true,
    value: 'PATHS',
    help: 'the rulebook: YAML files, and folders of them',
    default: 'rulebook.yaml',
    see: 'rulebook.md',
    to: (rules) => ({ rules }),
  },
  store: {
    kind: 'text',
    secret: 'shown',
    value: 'URL',
    help: `where counters are kept: memory, or ${URL_FORMS.join(', ')}`,
    default: 'memory',
    see: 'redis.md',
    to: (storeUrl) => ({ storeUrl }),
  },
  'store-deadline': {
    kind: 'time',
    value: 'TIME',
    help: 'how long a Redis has to answer before on_store_error decides',
    default: '50ms',
    see: 'shared-store.md',
    to: (deadlineMs) => ({ fallback: { deadlineMs } }),
  },
  'local-share': {
    kind: 'number',
    value: 'SHARE',
    help: 'the share of each limit that this process grants by on_store_error: local; 0.25 for four nodes',
    default: '1',
    to: (localShare) => ({ fallback: { localShare } }),
  },
  'max-keys': {
    kind: 'number',
    value: 'N',
    help: 'most keys held in memory; with a Redis, for on_store_error: local',
    default: '10000000',
    see: 'in-process-store.md#too-many-keys',
    to: (maxKeys) => ({ fallback: { local: { maxKeys } } }),
  },
  'max-bytes': {
    kind: 'text',
    value: 'SIZE',
    help: 'most memory for them: bytes, 200MB, 64MiB, or a share of the heap',
    default: '25%',
    see: 'in-process-store.md#too-many-keys',
    to: (maxBytes) => ({ fallback: { local: { maxBytes } } }),
  },
  http: {
    kind: 'text',
    value: 'HOST:PORT',
    help: 'address of the API',
    default: '127.0.0.1:8080',
    see: 'http.md',
    to: (http) => ({ http }),
  },
  trusted: {
    kind: 'list',
    value: 'CIDR',
    help: 'a proxy that asks /auth and may say who the client is, by its address or network',
    see: 'proxies/README.md',
    to: (trusted) => ({ auth: { trusted } }),
  },
  'auth-deadline': {
    kind: 'time',
    value: 'TIME',
    help: 'how long /auth waits for a Redis before on_store_error decides, if store-deadline does not end first',
    default: '80ms',
    see: 'proxies/README.md#the-answer',
    to: (deadline) => ({ auth: { deadline } }),
  },
  ...ENVOY_OPTIONS,
  admin: {
    kind: 'text',
    value: 'HOST:PORT',
    help: 'address for operators, and of the dashboard: keep it private',
    default: '127.0.0.1:6070',
    see: 'http.md#admin-address',
    to: (admin) => ({ admin }),
  },
  'admin-host': {
    kind: 'list',
    value: 'NAME',
    help: 'a further name of the admin address, such as sluice.internal',
    see: 'http.md#admin-address',
    to: (adminHosts) => ({ adminHosts }),
  },
  'admin-token': {
    kind: 'text',
    secret: 'hidden',
    help: 'calls of the admin address must bring, as authorization: Bearer TOKEN; 16 characters or more',
    see: 'http.md#admin-address',
    to: (adminToken) => ({ adminToken }),
  },
  'offender-keys': {
    kind: 'text',
    value: 'FORM',
    choices: ['plain', 'hashed'],
    help: 'how the lists of most refused and busiest keys show them; API keys and cookies are always hashed',
    default: 'plain',
    see: 'dashboard.md',
    to: (form) => ({ offenderKeys: form as 'plain' | 'hashed' }),
  },
  dialect: {
    kind: 'list',
    value: 'NAME',
    choices: Object.keys(dialects),
    help: 'headers in answers',
    default: 'ietf',
    see: 'headers.md#dialects',
    to: (dialect) => ({ respond: { dialect: dialect as (keyof typeof dialects)[] } }),
  },
  'retry-after': {
    kind: 'text',
    value: 'FORM',
    choices: ['seconds', 'date'],
    help: 'how Retry-After is written',
    default: 'seconds',
    to: (form) => ({ respond: { retryAfter: form as 'seconds' | 'date' } }),
  },
  tarpit: {
    kind: 'text',
    value: 'TIME',
    help: 'for how long answers that refuse are held back, such as 2s; at most 1m, of 1,000 at once',
    to: (tarpit) => ({ tarpit }),
  },
  secret: {
    kind: 'text',
    secret: 'hidden',
    help: 'encrypts reservations and keys the hashes of API keys and cookies: the same on all nodes that share a store',
    see: 'security.md#keys',
    to: (secret) => ({ secret }),
  },
  'calendar-months': {
    kind: 'flag',
    help: 'unit: month of descriptors is a calendar month in UTC, not 30 days',
    default: 'false',
    to: (calendarMonths) => ({ calendarMonths }),
  },
  watch: {
    kind: 'flag',
    help: 'reload when the rules change, not on SIGHUP and POST /v1/reload alone',
    default: 'true',
    to: (watch) => ({ watch }),
  },
  readiness: {
    kind: 'text',
    value: 'NEEDS',
    choices: ['process', 'store'],
    help: 'what must answer so that /readyz is 200: the process alone, which warns of its store, or the store too',
    default: 'process',
    to: (needs) => (needs === 'store' ? { readiness: 'store' } : {}),
  },
  'drain-time': {
    kind: 'time',
    value: 'TIME',
    help: 'how long requests in flight are waited for on shutdown',
    default: '10s',
    to: (drainMs) => ({ drainMs }),
  },
  'idle-time': {
    kind: 'time',
    value: 'TIME',
    help: 'for how long of that idle connections stay open for a last request',
    default: '2s',
    to: (idleMs) => ({ idleMs }),
  },
  'request-timeout': {
    kind: 'time',
    value: 'TIME',
    help: 'in which a request must have arrived whole',
    default: '10s',
    to: (requestTimeoutMs) => ({ bounds: { requestTimeoutMs } }),
  },
  'max-connections': {
    kind: 'number',
    value: 'N',
    help: 'most connections at once, to either address; others are dropped',
    default: '10000',
    to: (maxConnections) => ({ bounds: { maxConnections } }),
  },
  'log-level': {
    kind: 'text',
    value: 'LEVEL',
    choices: LEVELS,
    help: 'the least important lines that the log has',
    default: 'info',
    to: (level) => ({ logLevel: level as ServeSettings['logLevel'] }),
  },
  'log-format': {
    kind: 'text',
    value: 'FORMAT',
    choices: ['auto', 'pretty', 'json'],
    help: 'lines for people or of JSON; auto is for people on a terminal, else JSON',
    default: 'auto',
    to: (format) => ({ logFormat: format as ServeSettings['logFormat'] }),
  },
}
