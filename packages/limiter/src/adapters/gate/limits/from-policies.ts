import { type AlgorithmSettings, algorithmOptions, algorithms } from '../../../core/decide/algorithms.ts'
import { wholeNumber } from '../../../core/decide/integers.ts'
import { ConfigError, type FieldPath } from '../../../core/errors.ts'
import { under } from '../../../core/options.ts'
import { createEngine } from '../../../engine.ts'
import { createLimiter, type Limiter, type LimiterPolicy } from '../../../limiter.ts'
import { andThen, type MaybePromise, maybePromise } from '../../../maybe-promise.ts'
import type { Store } from '../../../stores/store.ts'
import type { Caller } from '../caller/caller-key.ts'
import { callerList } from '../caller/caller-list.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import type { CallerQuota, GatePolicy } from '../options/options.ts'
import type { GateSettings } from '../options/settings.ts'
import type { LimitSource } from './limit-source.ts'

/** Limiters kept for limits that a function gave; the oldest goes first. Their counters are the store's. */
const MAX_LIMITERS = 1_000

type PolicyOption =
  | keyof AlgorithmSettings
  | 'algorithm'
  | 'soft'
  | 'onLimit'
  | 'shadow'
  | 'block'
  | 'prefetch'

/** What may be said of the one limit of a gate beside its period, as of a policy. */
export const POLICY_OPTIONS: readonly PolicyOption[] = [
  'algorithm',
  ...algorithmOptions.keys(),
  'soft',
  'onLimit',
  'shadow',
  'block',
  'prefetch',
]

type AnyLimiter = Limiter<string, boolean, string>

/**
 * Policies of the gate's own. Each distinct quota is a limiter over the same counters: what a caller used stays
 * used when the limit changes.
 */
export function fromPolicies<N extends FrameworkArgs>(
  settings: GateSettings<N>,
  store: Store,
): LimitSource<N> {
  const policies = givenPolicies(settings)
  const variant = (
    change: (name: string, policy: GatePolicy<N>) => Partial<LimiterPolicy>,
    path?: FieldPath,
  ): AnyLimiter => {
    const made = Object.entries(policies).map(([name, policy]) => [
      name,
      limiterPolicyOf(policy, change(name, policy), settings),
    ])
    const { name, observe } = settings
    return relocated(settings.policies === undefined ? (path ?? []) : undefined, () =>
      createLimiter({
        name,
        policies: Object.fromEntries(made),
        store,
        ...(observe === undefined ? undefined : { observe }),
      }),
    )
  }
  const engine = createEngine(store, settings.observe)
  // Built even where limits are functions, so that a mistake beside them shows at once, and for `reset`.
  const base = variant((_, { limit }) => ({ limit: typeof limit === 'number' ? limit : 1 }))
  const special = specialLimiters(settings, (quota, path) =>
    variant(() => (typeof quota === 'number' ? { limit: quota } : quota), path),
  )
  const dynamic = dynamicLimiters(policies, (limits) => variant((name) => ({ limit: limits[name]! })))

  const simple = dynamic === undefined && settings.plans === undefined && settings.overrides === undefined
  const checkOwn: LimitSource<N>['check'] = (request, caller, cost) => {
    const own = andThen(special.find(request, caller), (own) => own ?? dynamic?.(request, caller) ?? base)
    return andThen(own, (limiter) => limiter.check(caller.key, { cost }))
  }

  return {
    check: simple ? (_, { key }, cost) => base.check(key, { cost }) : checkOwn,
    settle: (decision, actual) => engine.settle(settings.name, decision, actual),
    async peek(key) {
      if (dynamic === undefined) return base.peek(key)
      throw new ConfigError('a limit that depends on the request cannot be looked at without one')
    },
    async reset(key) {
      for (const limiter of [base, ...special.limiters]) await limiter.reset(key)
    },
    holds: [base, ...special.limiters].some(limiterHolds),
  }
}

/** Errors tell the place in the gate's own options: where these have one limit, it is no policy by name. */
function relocated<T>(path: FieldPath | undefined, make: () => T): T {
  try {
    return make()
  } catch (error) {
    const cause = error instanceof ConfigError && error.cause
    if (path === undefined || !(cause instanceof ConfigError)) throw error
    return under(path, () => {
      throw cause
    })
  }
}

function givenPolicies<N extends FrameworkArgs>(
  settings: GateSettings<N>,
): Readonly<Record<string, GatePolicy<N>>> {
  const { limit, period, identifier = 'default' } = settings
  if (settings.policies !== undefined) return settings.policies
  if (limit === undefined) throw new ConfigError('give a limit, or policies, a limiter or rules')
  if (period === undefined)
    throw new ConfigError('give the period of the limit, in milliseconds or as text such as 15m', {
      path: ['period'],
    })
  const given = POLICY_OPTIONS.filter((name) => settings[name] !== undefined).map((name) => [
    name,
    settings[name],
  ])
  return { [identifier]: { limit, period, ...Object.fromEntries(given) } }
}

/** Windows that open with a caller's first request, or where the period is a calendar's, with the period. */
const WINDOWS = { algorithm: 'token-bucket', refill: 'interval' } as const
const CALENDAR_WINDOWS = { algorithm: 'fixed-window' } as const

function limiterPolicyOf<N extends FrameworkArgs>(
  policy: GatePolicy<N>,
  change: Partial<LimiterPolicy>,
  { onStoreError }: GateSettings<N>,
): LimiterPolicy {
  const windows = typeof policy.period === 'object' ? CALENDAR_WINDOWS : WINDOWS
  return {
    ...(policy.algorithm === undefined ? windows : undefined),
    ...policy,
    ...(onStoreError === undefined ? undefined : { onStoreError }),
    ...change,
  } as LimiterPolicy
}

interface Special<N extends FrameworkArgs> {
  readonly limiters: readonly AnyLimiter[]
  find(request: IncomingRequest<N>, caller: Caller): MaybePromise<AnyLimiter | undefined>
}

/** Overrides and plans: quotas known beforehand, for some callers. */
function specialLimiters<N extends FrameworkArgs>(
  settings: GateSettings<N>,
  make: (quota: CallerQuota, path: FieldPath) => AnyLimiter,
): Special<N> {
  const { plan, plans = {}, overrides = {}, policies } = settings
  if (policies !== undefined && (settings.plans ?? settings.overrides) !== undefined) {
    throw new ConfigError(
      'plans and overrides go with one limit; with policies, let their limits be functions',
    )
  }
  if ((plan === undefined) !== (settings.plans === undefined)) {
    throw new ConfigError('plan names one of plans: give both')
  }
  const byPlan = new Map(Object.entries(plans).map(([name, quota]) => [name, make(quota, ['plans', name])]))
  const exceptions = Object.entries(overrides).map(
    ([caller, quota]) => [caller, make(quota, ['overrides', caller]), ['overrides', caller]] as const,
  )
  const byCaller = callerList(exceptions, settings.key !== undefined)
  return {
    limiters: [...byPlan.values(), ...exceptions.map(([, limiter]) => limiter)],
    find({ args }, { shown, address }) {
      const own = byCaller?.(shown, address)
      if (own !== undefined || plan === undefined) return own
      return andThen(maybePromise(plan(...args)), (name) => byPlan.get(name ?? ''))
    },
  }
}

/** Limits that functions give; `undefined` when there are none. */
function dynamicLimiters<N extends FrameworkArgs>(
  policies: Readonly<Record<string, GatePolicy<N>>>,
  make: (limits: Readonly<Record<string, number>>) => AnyLimiter,
): ((request: IncomingRequest<N>, caller: Caller) => Promise<AnyLimiter>) | undefined {
  const entries = Object.entries(policies)
  if (entries.every(([, { limit }]) => typeof limit === 'number')) return undefined
  const made = new Map<string, AnyLimiter>()
  return async ({ args }, { shown }) => {
    const limits: [string, number][] = []
    for (const [name, { limit }] of entries) {
      const own = typeof limit === 'function' ? await limit(...args, shown) : limit
      limits.push([name, wholeNumber('limit', own, 0)])
    }
    const id = limits.map(([, limit]) => limit).join()
    const known = made.get(id)
    if (known !== undefined) return known
    const limiter = make(Object.fromEntries(limits))
    if (made.size >= MAX_LIMITERS) made.delete(made.keys().next().value!)
    made.set(id, limiter)
    return limiter
  }
}

/** Whether a limiter has policies whose charges are given back when the request ends. */
function limiterHolds({ policies }: AnyLimiter): boolean {
  return Object.values(policies).some(
    ({ algorithm }) =>
      (typeof algorithm === 'object' ? algorithm : algorithms[algorithm]).traits.holds === true,
  )
}
