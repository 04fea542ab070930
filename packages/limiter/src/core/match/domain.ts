import { type AlgorithmName, type AlgorithmSettings, policyFields } from '../decide/algorithms.ts'
import { basePolicyFields, type CalendarPeriod } from '../decide/policy.ts'
import { type OnLimit, type OnStoreError, ruleFields } from '../decide/rule.ts'
import type { Position } from '../errors.ts'
import {
  anyOf,
  anything,
  flag,
  listOf,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  recordOf,
  textCheck,
  wholeFrom,
} from '../options.ts'

/** `COUNT/PERIOD`, taken apart. */
export interface Quota {
  /** Whole, ≥ 0. */
  readonly limit: number
  readonly period: number | string | CalendarPeriod
  /** A capacity of its own, where it differs from the rule's. */
  readonly burst?: number
}

/** What a rule does with a request that lacks one of its key's parts. */
export type OnMissingKey = 'skip' | 'share' | 'deny'

/** Options that both formats share: the algorithm with its own options, and how the rule deals with requests. */
export interface LimitOptions extends AlgorithmSettings {
  readonly algorithm: AlgorithmName
  readonly onLimit: OnLimit
  readonly mode: 'enforce' | 'shadow'
  readonly onStoreError: OnStoreError
  /** Share of the limit, above 0 to 1, past which decisions are marked. */
  readonly soft?: number
  /** After so many refusals within `within` ms, refuse everything for `for` ms. */
  readonly block?: { readonly after: number; readonly within: number; readonly for: number }
  /** Lets a key be blocked by hand even where there is no `block`. */
  readonly blockable?: boolean
  /** Share, 0–1, by which Retry-After may be lengthened. */
  readonly jitter?: number
  /** How Retry-After is written. Default: as the service says. */
  readonly retryAfter?: 'seconds' | 'date'
  /** Milliseconds, to 60,000, for which an answer that refuses is held back. */
  readonly tarpit?: number
  /** Gives each key its own window phase. */
  readonly spread?: boolean
  /** Units, ≥ 2, that a node may take ahead from a shared store. */
  readonly prefetch?: number
  /** `rlqs`: the service assigns parts of the limit to proxies, who decide by themselves. */
  readonly assign?: 'rlqs'
}

/** Conditions, all of which must hold; each lists alternatives. */
export interface When {
  readonly method?: readonly string[]
  /** Globs: `*` one segment, `**` any number, `:name` one segment kept as a parameter. */
  readonly path?: readonly string[]
  readonly host?: readonly string[]
  readonly header?: Readonly<Record<string, readonly string[]>>
  readonly query?: Readonly<Record<string, readonly string[]>>
  /** CIDRs or addresses. */
  readonly ip?: readonly string[]
}

/** One named limit over request attributes. */
export interface Limit extends LimitOptions {
  readonly name: string
  readonly when?: When
  /** Parts of the identity, as in the rulebook: `ip`, `ip/24`, `header:x-model`, `attribute:team`… */
  readonly key: readonly string[]
  readonly limit: Quota | PlanQuota
  readonly cost: number | string
  readonly onMissingKey: OnMissingKey
  /** CIDRs or key values that are not limited. */
  readonly exempt: readonly string[]
  /** CIDRs or key values with a limit of their own; the first that matches counts. */
  readonly overrides: readonly { readonly match: string; readonly quota: Quota }[]
  /** Names of limits that this one replaces, when both match. */
  readonly replaces: readonly string[]
  readonly source?: Position
}

/** A quota for each value of an attribute. */
export interface PlanQuota {
  /** The attribute's name. */
  readonly by: string
  readonly plans: Readonly<Record<string, Quota>>
  /** For every other value, and for none. */
  readonly otherwise: Quota
}

/** One node of the descriptor tree: envoyproxy/ratelimit's format. */
export interface Descriptor {
  readonly key: string
  /** Exact, or a pattern where it holds `*`; absent: any value. */
  readonly value?: string
  readonly rateLimit?: DescriptorLimit
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  readonly shareThreshold: boolean
  readonly metadata?: unknown
  readonly descriptors: readonly Descriptor[]
  readonly source?: Position
}

export interface DescriptorLimit extends LimitOptions {
  readonly unlimited: boolean
  /** Absent when unlimited. */
  readonly quota?: Quota
  /** As the file says it, for answers that repeat it. */
  readonly unit?: string
  readonly name?: string
  readonly replaces: readonly string[]
}

/** A limit for a firewall (layers 3 and 4): it is exported, and never decided here. */
export interface NetworkLimit {
  readonly name: string
  readonly protocol: 'tcp' | 'udp'
  /** Ports and ranges of them, from 1 to 65535: `443`, `8000-8010`. */
  readonly port: readonly string[]
  /** `ip`, `ip/24`, `ip/24/56`; empty: all clients together. */
  readonly key: readonly string[]
  /** `open`: connections at one time. */
  readonly count: 'connections' | 'packets' | 'open'
  /** Whole, ≥ 1. */
  readonly limit: number
  /** Milliseconds, whole, ≥ 1; absent with `open`. */
  readonly period?: number
  /** How many at once, ≥ 1; absent with `open`. */
  readonly burst?: number
  readonly onLimit: 'drop' | 'reset'
  /** What happens to clients that the table has no room for. */
  readonly onFull: 'open' | 'closed'
  /** Addresses and CIDRs that are not limited. */
  readonly exempt: readonly string[]
  readonly source?: Position
}

/** One domain's rules, of all kinds. */
export interface Domain {
  readonly name: string
  readonly limits: readonly Limit[]
  readonly descriptors: readonly Descriptor[]
  /** Not decided here, but by firewalls. */
  readonly network?: readonly NetworkLimit[]
}

/** What may be where: each call is marked, so that who imports a matcher has no checks. */
const QUOTA = /* @__PURE__ */ quotaCheck()

function quotaCheck(): OptionCheck {
  return objectOf<Quota>({ ...basePolicyFields, burst: policyFields.burst }, ['limit', 'period'], {
    what: 'a quota, such as { limit: 5, period: "1m" }',
  })
}

const PLANS = /* @__PURE__ */ objectOf<PlanQuota>(
  { by: textCheck, plans: /* @__PURE__ */ recordOf(QUOTA), otherwise: QUOTA },
  ['by', 'plans', 'otherwise'],
)
const TEXTS = /* @__PURE__ */ listOf(textCheck)

/** What the options that both formats share may be. */
function optionFields(): OptionFields<LimitOptions> {
  const { limit: _limit, period: _period, ...ofAlgorithm } = policyFields
  return {
    ...ofAlgorithm,
    onLimit: ruleFields.onLimit,
    mode: ruleFields.mode,
    onStoreError: ruleFields.onStoreError,
    soft: ruleFields.soft,
    block: ruleFields.block,
    blockable: ruleFields.blockable,
    jitter: ruleFields.jitter,
    spread: ruleFields.spread,
    retryAfter: ruleFields.retryAfter,
    tarpit: ruleFields.tarpit,
    prefetch: ruleFields.prefetch,
    assign: ruleFields.assign,
  }
}
const NEEDED_OPTIONS = ['algorithm', 'onLimit', 'mode', 'onStoreError'] as const

/** What a limit may be. */
export const limitCheck: OptionCheck = /* @__PURE__ */ checkOfLimit()

function checkOfLimit(): OptionCheck {
  return objectOf<Limit>(
    {
      ...optionFields(),
      name: textCheck,
      when: objectOf<When>({
        method: TEXTS,
        path: TEXTS,
        host: TEXTS,
        header: recordOf(TEXTS),
        query: recordOf(TEXTS),
        ip: TEXTS,
      }),
      key: TEXTS,
      limit: (value, path) => (isPlanQuota(value) ? PLANS : QUOTA)(value, path),
      cost: anyOf(wholeFrom(0), textCheck),
      onMissingKey: oneOf('skip', 'share', 'deny'),
      exempt: TEXTS,
      overrides: listOf(
        objectOf<Limit['overrides'][number]>({ match: textCheck, quota: QUOTA }, ['match', 'quota']),
      ),
      replaces: TEXTS,
      source: anything,
    },
    [...NEEDED_OPTIONS, 'name', 'key', 'limit', 'cost', 'onMissingKey', 'exempt', 'overrides', 'replaces'],
  )
}

/** What a descriptor may be; those below it are looked at one by one. */
export const descriptorCheck: OptionCheck = /* @__PURE__ */ checkOfDescriptor()

function checkOfDescriptor(): OptionCheck {
  return objectOf<Descriptor>(
    {
      key: textCheck,
      value: textCheck,
      rateLimit: objectOf<DescriptorLimit>(
        {
          ...optionFields(),
          unlimited: flag,
          quota: QUOTA,
          unit: textCheck,
          name: textCheck,
          replaces: TEXTS,
        },
        [...NEEDED_OPTIONS, 'unlimited', 'replaces'],
      ),
      shadowMode: flag,
      quotaMode: flag,
      detailedMetric: flag,
      valueToMetric: flag,
      shareThreshold: flag,
      metadata: anything,
      descriptors: listOf(anything),
      source: anything,
    },
    ['key', 'shadowMode', 'quotaMode', 'detailedMetric', 'valueToMetric', 'shareThreshold', 'descriptors'],
  )
}

/** What a network rule may be. */
export const networkLimitCheck: OptionCheck = /* @__PURE__ */ objectOf<NetworkLimit>(
  {
    name: textCheck,
    protocol: /* @__PURE__ */ oneOf('tcp', 'udp'),
    port: TEXTS,
    key: TEXTS,
    count: /* @__PURE__ */ oneOf('connections', 'packets', 'open'),
    limit: /* @__PURE__ */ wholeFrom(1),
    period: /* @__PURE__ */ wholeFrom(1),
    burst: /* @__PURE__ */ wholeFrom(1),
    onLimit: /* @__PURE__ */ oneOf('drop', 'reset'),
    onFull: /* @__PURE__ */ oneOf('open', 'closed'),
    exempt: TEXTS,
    source: anything,
  },
  ['name', 'protocol', 'port', 'key', 'count', 'limit', 'onLimit', 'onFull', 'exempt'],
)

/** What domains may be; their rules are looked at one by one, to name each. */
export const domainsCheck: OptionCheck = /* @__PURE__ */ listOf(
  /* @__PURE__ */ objectOf<Domain>(
    {
      name: textCheck,
      limits: /* @__PURE__ */ listOf(anything),
      descriptors: /* @__PURE__ */ listOf(anything),
      network: /* @__PURE__ */ listOf(anything),
    },
    ['name', 'limits', 'descriptors'],
  ),
  'a list of domains, as loadRulebook gives it',
)

function isPlanQuota(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'by' in value
}
