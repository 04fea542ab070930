import { aheadOf, checkLease } from '../decide/ahead.ts'
import type { Plan } from '../decide/algorithm.ts'
import { planOf } from '../decide/algorithms.ts'
import { blockPlan } from '../decide/block/block.ts'
import type { Policy } from '../decide/policy.ts'
import type { Step } from '../decide/step.ts'
import { windowSecondsOf } from '../decide/window-seconds.ts'
import { ConfigError, type Position } from '../errors.ts'
import { fraction } from '../identify/fraction.ts'
import type { Quota, RuleOptions } from './rule.ts'
import type { Subject } from './subject.ts'

/** What a rule does to those whom it meets, in whichever format it was written. */
export interface Law {
  /** Namespace of its counters. */
  readonly policy: string
  readonly role: Exclude<Step['role'], 'guard'>
  readonly guard: Plan | undefined
  readonly costFrom: Step['costFrom']
}

/** One of a rule's quotas, ready to be charged. */
export interface Ruling {
  readonly plan: Plan
  readonly subject: Subject
  /** Microseconds over which keys' windows are spread; 0: all begin together. */
  readonly spread: number
  /** Units that may be taken ahead. */
  readonly ahead?: number | undefined
}

/** Makes plans, equal policies' once. */
export type Planner = (policy: Policy) => Plan

export function planner(): Planner {
  const plans = new Map<string, Plan>()
  return (policy) => {
    const id = JSON.stringify(policy)
    const plan = plans.get(id) ?? planOf(policy)
    plans.set(id, plan)
    return plan
  }
}

/** @throws ConfigError for options that cannot mean anything together. */
export function lawOf(
  options: RuleOptions & { readonly cost?: number | string },
  policy: string,
  quota = false,
): Law {
  const { onLimit, mode, algorithm, block, soft, jitter, lease, cost = 1 } = options
  if (onLimit === 'delay' && algorithm !== 'leaky-bucket') {
    throw new ConfigError(`delaying goes with leaky-bucket, which has a queue, not with ${algorithm}`)
  }
  if (onLimit === 'deprioritize' && block !== undefined) {
    throw new ConfigError('a rule that only lowers the priority refuses nobody, so it cannot block')
  }
  checkShare('soft', soft)
  checkShare('jitter', jitter)
  const guard = block && blockPlan(block)
  const reports = mode === 'shadow' || onLimit === 'deprioritize'
  const role = reports ? 'shadow' : quota ? 'quota' : 'enforce'
  if (lease !== undefined) {
    const units = typeof cost === 'number' ? cost : undefined
    checkLease(lease, { algorithm, role, guarded: guard !== undefined, cost: units })
  }
  return {
    policy,
    role,
    guard: reports ? undefined : guard, // a guard refuses, which a shadow must not
    costFrom: typeof cost === 'string' ? 'measure' : cost === 1 ? undefined : 'rule',
  }
}

function checkShare(name: string, share: number | undefined): void {
  if (share !== undefined && !(share >= 0 && share <= 1)) {
    throw new ConfigError(`${name} must be a share from 0 to 1, not ${share}`)
  }
}

/** @throws ConfigError when the quota cannot be kept, or not in this way. */
export function rulingOf(options: RuleOptions, quota: Quota, name: string, planFor: Planner): Ruling {
  const { algorithm, rounding, refill, onLimit, mode, onStoreError, soft, jitter, spread = false } = options
  const burst = quota.burst ?? options.burst
  if (spread && typeof quota.period === 'object') {
    throw new ConfigError('spread would move a calendar period off the calendar')
  }
  const plan = planFor({
    algorithm,
    limit: quota.limit,
    period: quota.period,
    ...(burst !== undefined && { burst }),
    ...(refill !== undefined && { refill }),
    ...(rounding !== undefined && { rounding }),
  })
  const windowSeconds = windowSecondsOf(plan)
  const subject: Subject = {
    name,
    onLimit,
    mode,
    onStoreError,
    ...(windowSeconds !== undefined && { windowSeconds }),
    ...(soft !== undefined && { soft }),
    ...(jitter !== undefined && { jitter }),
    ...(onLimit === 'deprioritize' && { deprioritize: true }),
  }
  const phases = spread && isAligned(algorithm) ? plan.period * plan.unit : 0
  return { plan, subject, spread: phases, ahead: aheadOf(options.lease, plan) }
}

/** In the other algorithms each key's time begins with the key. */
function isAligned(algorithm: RuleOptions['algorithm']): boolean {
  return algorithm === 'fixed-window' || algorithm === 'sliding-window-counter'
}

/** What a request is matched to, while it is being gathered. */
export interface Gathered {
  readonly steps: Step[]
  readonly subjects: Subject[]
  readonly missing: string[]
}

/** Adds a rule's step, and its guard's right behind it. */
export function gather(into: Gathered, law: Law, ruling: Ruling, key: string, cost: number): void {
  const { policy, role, guard, costFrom } = law
  const { plan, subject, spread, ahead } = ruling
  const { onStoreError } = subject
  const step: Step = {
    plan,
    policy,
    key,
    cost,
    role,
    onStoreError,
    ...(costFrom && { costFrom }),
    ...(ahead && { ahead }),
  }
  into.steps.push(spread > 0 ? { ...step, phase: Math.floor(fraction(key, 0) * spread) } : step)
  into.subjects.push(subject)
  if (guard === undefined) return
  const watches = into.steps.length - 1
  into.steps.push({ plan: guard, policy, key, cost: Math.min(cost, 1), role: 'guard', watches, onStoreError })
  into.subjects.push(subject)
}

/** Runs `make`; a ConfigError in it names the rule and where it stands. */
export function naming<T>(what: string, source: Position | undefined, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const where = source === undefined ? '' : `${source.file}:${source.line}:${source.column}: `
    throw new ConfigError(`${where}${what}: ${error.message}`, { cause: error })
  }
}
