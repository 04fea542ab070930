import { type Decision, receipt } from '../../core/decide/decision.ts'
import { wholeNumber } from '../../core/decide/integers.ts'
import type { Step } from '../../core/decide/step.ts'
import { ConfigError } from '../../core/errors.ts'
import { settle } from '../../engine.ts'
import { createLimiter, type Limiter, type LimiterPolicy } from '../../limiter.ts'
import type { Store } from '../../stores/store.ts'
import type { Arrival, Native } from './arrival.ts'
import type { ActualCost, GatePolicy, Quota } from './options.ts'
import { people } from './people.ts'
import { hasLeases, type Quotas } from './quotas.ts'
import type { Settings } from './settings.ts'
import { given, type Soon, soon } from './soon.ts'
import type { Caller } from './whose.ts'

/** Limiters kept for limits that a function gave; the oldest goes first. Their counters are the store's. */
const MAX_LIMITERS = 1_000

type AnyLimiter = Limiter<string, boolean>

/**
 * Policies of the gate's own. Each distinct quota is a limiter over the same counters: what a caller used stays
 * used when the limit changes.
 */
export function ownQuotas<N extends Native>(settings: Settings<N>, store: Store): Quotas<N> {
  const policies = policiesOf(settings)
  const variant = (change: (name: string, policy: GatePolicy<N>) => Partial<LimiterPolicy>): AnyLimiter => {
    const made = Object.entries(policies).map(([name, policy]) => [
      name,
      policyOf(policy, change(name, policy), settings),
    ])
    return createLimiter({ name: settings.name, policies: Object.fromEntries(made), store })
  }
  // Built even where limits are functions, so that a mistake beside them shows at once, and for `reset`.
  const base = variant((_, { limit }) => ({ limit: typeof limit === 'number' ? limit : 1 }))
  const special = specialQuotas(settings, (quota) =>
    variant(() => (typeof quota === 'number' ? { limit: quota } : quota)),
  )
  const dynamic = dynamicLimiters(policies, (limits) => variant((name) => ({ limit: limits[name]! })))

  const simple = dynamic === undefined && settings.plans === undefined && settings.overrides === undefined
  const askOwn: Quotas<N>['ask'] = (arrival, caller, cost) => {
    const own = soon(special.find(arrival, caller), (own) => own ?? dynamic?.(arrival, caller) ?? base)
    return soon(own, (limiter) => limiter.check(caller.key, { cost }))
  }

  return {
    ask: simple ? (_, { key }, cost) => base.check(key, { cost }) : askOwn,
    settle: (decision, actual) => settledIn(store, decision, actual),
    async peek(key) {
      if (dynamic === undefined) return base.peek(key)
      throw new ConfigError('a limit that depends on the request cannot be looked at without one')
    },
    async reset(key) {
      for (const limiter of [base, ...special.limiters]) await limiter.reset(key)
    },
    leases: [base, ...special.limiters].some(hasLeases),
  }
}

/** Settles a decision whose charge is kept in this store. */
export function settledIn(store: Store, decision: Decision, actual: ActualCost | undefined): unknown {
  const left = decision[receipt]
  return left && settle(store, left, actualOf(decision, actual))
}

/** What each step really cost: one number for all, or by policy, of which those not named stay as charged. */
function actualOf(decision: Decision, actual: ActualCost | undefined): (step: Step) => number | undefined {
  if (typeof actual !== 'object') return () => actual
  const steps = decision[receipt]!.steps.filter(({ role }) => role !== 'guard')
  return (step) => {
    const name = decision.policies[steps.indexOf(step)]?.policy ?? ''
    return Object.hasOwn(actual, name) ? actual[name] : undefined
  }
}

function policiesOf<N extends Native>(settings: Settings<N>): Readonly<Record<string, GatePolicy<N>>> {
  const {
    limit,
    period,
    algorithm,
    burst,
    refill,
    rounding,
    soft,
    shadow,
    block,
    identifier = 'default',
  } = settings
  if (settings.policies !== undefined) return settings.policies
  if (limit === undefined) throw new ConfigError('give a limit, or policies, a limiter or rules')
  if (period === undefined)
    throw new ConfigError('give the period of the limit, in milliseconds or as text such as 15m')
  const rest = { algorithm, burst, refill, rounding, soft, shadow, block }
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return { [identifier]: { limit, period, ...given } }
}

function policyOf<N extends Native>(
  policy: GatePolicy<N>,
  change: Partial<LimiterPolicy>,
  { onStoreError }: Settings<N>,
): LimiterPolicy {
  const { period } = policy
  const windows = typeof period === 'object' ? 'fixed-window' : 'token-bucket'
  const law =
    policy.algorithm === undefined && windows === 'token-bucket' ? { refill: 'interval' as const } : undefined
  return {
    algorithm: windows,
    ...law,
    ...policy,
    ...(onStoreError === undefined ? undefined : { onStoreError }),
    ...change,
  } as LimiterPolicy
}

interface Special<N extends Native> {
  readonly limiters: readonly AnyLimiter[]
  find(arrival: Arrival<N>, caller: Caller): Soon<AnyLimiter | undefined>
}

/** Overrides and plans: quotas known beforehand, for some. */
function specialQuotas<N extends Native>(
  settings: Settings<N>,
  make: (quota: Quota) => AnyLimiter,
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
  const byPlan = new Map(Object.entries(plans).map(([name, quota]) => [name, make(quota)]))
  const exceptions = Object.entries(overrides).map(([who, quota]) => [who, make(quota)] as const)
  const byPerson = people(exceptions)
  return {
    limiters: [...byPlan.values(), ...exceptions.map(([, limiter]) => limiter)],
    find({ native }, { shown, address }) {
      const own = byPerson?.(shown, address)
      if (own !== undefined || plan === undefined) return own
      return soon(given(plan(...native)), (name) => byPlan.get(name ?? ''))
    },
  }
}

/** Limits that functions give; `undefined` when there are none. */
function dynamicLimiters<N extends Native>(
  policies: Readonly<Record<string, GatePolicy<N>>>,
  make: (limits: Readonly<Record<string, number>>) => AnyLimiter,
): ((arrival: Arrival<N>, caller: Caller) => Promise<AnyLimiter>) | undefined {
  const entries = Object.entries(policies)
  if (entries.every(([, { limit }]) => typeof limit === 'number')) return undefined
  const made = new Map<string, AnyLimiter>()
  return async ({ native }, { shown }) => {
    const limits: [string, number][] = []
    for (const [name, { limit }] of entries) {
      const own = typeof limit === 'function' ? await limit(...native, shown) : limit
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
