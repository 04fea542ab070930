import { clockCheck } from '../../../clock.ts'
import { policyFields } from '../../../core/decide/algorithms.ts'
import { POLICY_NAMES } from '../../../core/decide/policy.ts'
import { tarpitCheck } from '../../../core/decide/rule.ts'
import type { FieldPath } from '../../../core/errors.ts'
import {
  anyOf,
  anything,
  checkOptions,
  durationCheck,
  flag,
  func,
  having,
  listOf,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  recordOf,
  shareCheck,
  textCheck,
  that,
  wholeFrom,
} from '../../../core/options.ts'
import { dialectsCheck } from '../../../core/respond/dialect-writers.ts'
import { limiterPolicyFields } from '../../../limiter.ts'
import { fallbackFields } from '../../../stores/fallback.ts'
import { storeCheck } from '../../../stores/store.ts'
import { proxiesCheck } from '../caller/proxy-names.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { CallerQuota, GateOptions, GatePolicy } from './options.ts'
import { warningsCheck } from './warnings.ts'

/** Checks for the options that a framework's adapter reads itself, by their names. */
export type OwnFields = Readonly<Record<string, OptionCheck>>

/** What `ipv6Subnet` may be, where it is no function, and what its function may give. */
export const ipv6SubnetCheck: OptionCheck = anyOf(
  wholeFrom(32, 128),
  that('false', (value) => value === false),
)

/** Names that other libraries have for what is done otherwise here. */
const INSTEAD: Readonly<Record<string, string>> = {
  addHeaders: 'give dialect, [] for none',
  addHeadersOnExceeding: 'give headers: denied, or dialect',
  ban: 'give block',
  blockDuration: 'give block, with after: 1',
  cache: 'a store holds up to its maxKeys, and never evicts a live counter',
  continueExceeding: 'give block; a client that only retries is not punished',
  enableDraftSpec: 'give dialect: draft-06',
  exponentialBackoff: 'give block; a client that only retries is not punished',
  generateKey: 'give key; what shares a limiter counts together',
  ignoreUserAgents: 'give skip',
  nameSpace: 'give store and name',
  onBanReach: 'give onLimitReached',
  onExceeded: 'give onLimitReached',
  onExceeding: 'the application finds the figures under requestPropertyName',
  redis: 'give store and name',
  requestStorePropertyName: 'getKey and resetKey are the limiter’s own',
  storage: 'give store and name',
  throttlers: 'give limit and period, or policies by name',
}

const { onStoreError, key: fieldOfKeys, ...ofPolicy } = limiterPolicyFields

const gatePolicyFields: OptionFields<GatePolicy<FrameworkArgs>> = {
  ...policyFields,
  ...ofPolicy,
  limit: anyOf(wholeFrom(0), func),
}

/** A function of the request. */
const perRequest = that('a function of the request', (value) => typeof value === 'function')

const quotaOfCaller = anyOf(
  wholeFrom(0),
  objectOf<Exclude<CallerQuota, number>>(
    { limit: wholeFrom(0), period: durationCheck, burst: policyFields.burst },
    ['limit'],
    { what: 'an object with a limit', instead: POLICY_NAMES },
  ),
)
const quotas = recordOf(quotaOfCaller, 'an object with a limit for each name')

const callers = listOf(textCheck, 'a list of keys, addresses and CIDRs (to decide by request, give skip)')

/** A function of the request, or a list of parts: their names are looked at where the key is read. */
const keys: OptionCheck = anyOf(
  perRequest,
  listOf(
    anyOf(textCheck, func),
    'a list of names such as ip and header:x-user, and functions of the request',
  ),
)

const gateFields: OptionFields<GateOptions<FrameworkArgs>> = {
  ...gatePolicyFields,
  identifier: that('text: policies of several names are given as policies', isText),
  policies: recordOf(
    objectOf({ ...gatePolicyFields, key: fieldOfKeys }, ['limit', 'period'], {
      what: 'a policy, such as { limit: 100, period: "15m" }',
      instead: POLICY_NAMES,
    }),
    'an object with a policy for each name',
  ),
  limiter: having('a limiter', 'check', 'peek', 'reserve', 'refund', 'reset'),
  rules: that('compiled rules, or a function that gives them', isRules),
  domain: textCheck,
  attributes: perRequest,
  plan: perRequest,
  plans: quotas,
  overrides: quotas,
  key: keys,
  onMissingKey: oneOf('address', 'skip', 'share', 'deny'),
  address: perRequest,
  trustProxy: proxiesCheck,
  proxyHeader: oneOf('x-forwarded-for', 'forwarded'),
  ipv6Subnet: anyOf(ipv6SubnetCheck, perRequest),
  ipv4Subnet: wholeFrom(8, 32),
  allowList: callers,
  denyList: callers,
  cost: anyOf(wholeFrom(0), recordOf(wholeFrom(0), 'an object with a cost for each policy'), perRequest),
  skip: perRequest,
  skipFailedRequests: flag,
  skipSuccessfulRequests: flag,
  requestWasSuccessful: func,
  settleCost: func,
  statusCode: wholeFrom(400, 599),
  message: anything,
  dialect: dialectsCheck,
  partitionKey: func,
  headers: oneOf('always', 'denied'),
  retryAfter: oneOf('seconds', 'date'),
  jitter: shareCheck,
  exposeHeaders: flag,
  requestPropertyName: textCheck,
  tarpit: tarpitCheck,
  maxWaiting: wholeFrom(0),
  onLimitReached: func,
  name: textCheck,
  store: storeCheck,
  onStoreError,
  deadlineMs: fallbackFields.deadlineMs,
  observe: func,
  logger: having('a logger', 'warn', 'error'),
  validate: anyOf(flag, warningsCheck),
  clock: clockCheck,
  timers: having('timers', 'setTimeout', 'clearTimeout'),
  wallClock: func,
  max: gatePolicyFields.limit,
  windowMs: durationCheck,
  timeWindow: durationCheck,
  keyGenerator: keys,
  passOnStoreError: flag,
  skipOnError: flag,
  standardHeaders: anyOf(flag, oneOf('draft-6', 'draft-7', 'draft-8')),
  legacyHeaders: flag,
}

/**
 * Checks the options of an adapter.
 * @param more checks for those that it reads itself
 * @param path what stands before the names in messages
 * @throws ConfigError
 */
export function checkGateOptions(options: object, more: OwnFields = {}, ...path: FieldPath): void {
  checkOptions(
    options,
    objectOf({ ...gateFields, ...more }, [], {
      what: 'an object with limit and period, such as { limit: 100, period: "15m" }, or with policies, limiter or rules',
      instead: INSTEAD,
    }),
    ...path,
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isRules(value: unknown): boolean {
  return typeof value === 'function' || (value as { domains?: unknown } | null)?.domains instanceof Map
}
