import { ConfigError, errorsOf } from '../errors.ts'
import {
  above0,
  anything,
  checkOptions,
  durationCheck,
  flag,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  recordOf,
  shareCheck,
  under,
  wholeFrom,
} from '../options.ts'
import { ticksOf } from '../time.ts'
import type { Plan } from './algorithm.ts'
import { checkAssign } from './assign.ts'
import { type BlockOptions, type BlockPlan, blockByHand, blockOptions, blockPlan } from './block/block.ts'
import { checkPrefetch, prefetchOf } from './prefetch.ts'
import { canRefuse, type Role } from './role.ts'
import { windowSecondsOf } from './window-seconds.ts'

/** What happens to a request over its limit. */
export type OnLimit = 'deny' | 'delay' | 'deprioritize'
/** What a rule does while the store is slow or down. */
export type OnStoreError = 'open' | 'closed' | 'local'
/** All that a quota is: made once, and named by every step and decision. Never changed. */
export interface Rule {
  /** As clients see it. */
  readonly name: string
  /** Rules of one namespace and one kind of plan share their counters. */
  readonly namespace: string
  readonly plan: Plan
  readonly role: Role
  readonly onLimit: OnLimit
  readonly onStoreError: OnStoreError
  /** Seconds of the window, for headers: the capacity per so much; `undefined` where there is no window. */
  readonly windowSeconds: number | undefined
  /** Share of the limit in use, 0–1, from which decisions are marked soft. */
  readonly soft: number | undefined
  /** Refuses everything for a time after too many refusals, or by hand. Its counter has the rule's namespace and key. */
  readonly block: BlockPlan | undefined
  /** Units, ≥ 2, that a node may take ahead and then grant by itself (stores/prefetch.ts). */
  readonly prefetch: number | undefined
  /** Share, 0–1, by which Retry-After may be lengthened. */
  readonly jitter: number | undefined
  /** Who else decides by the limit: `rlqs` are proxies to which the service assigns parts of it. Present only then. */
  readonly assign?: 'rlqs' | undefined
  /** How Retry-After is written, where the rule says so. */
  readonly retryAfter?: 'seconds' | 'date' | undefined
  /** Milliseconds for which an answer that refuses is held back, where the rule says so. */
  readonly tarpitMs?: number | undefined
  /** Stands in for a rule whose key the request lacks, and refuses. Present only then. */
  readonly missingKey?: true
  /** Microseconds over which the windows of different keys are spread; 0: all begin together. */
  readonly spread: number
}

const MOST_TARPIT_MS = 60_000

/** How a rule deals with requests, whatever its quota. */
export interface RuleOptions {
  /** Default `deny`. `delay` needs an algorithm that queues, or `soft` and a period of fixed length. */
  readonly onLimit?: OnLimit | undefined
  /** Default `enforce`. */
  readonly mode?: 'enforce' | 'shadow' | undefined
  /** Default `open`. */
  readonly onStoreError?: OnStoreError | undefined
  readonly soft?: number | undefined
  readonly block?: BlockOptions | undefined
  /** Lets `block` refuse a key by hand even where no `block` counts refusals. */
  readonly blockable?: boolean | undefined
  readonly prefetch?: number | undefined
  /** `rlqs`: the service may assign parts of the limit to proxies. */
  readonly assign?: 'rlqs' | undefined
  readonly jitter?: number | undefined
  readonly spread?: boolean | undefined
  readonly retryAfter?: 'seconds' | 'date' | undefined
  /** Milliseconds or text, above 0 to a minute. */
  readonly tarpit?: number | string | undefined
  /** Refuses only together with every other quota rule of the request. */
  readonly quota?: boolean | undefined
  /** Units of each request, where they are known. Default 1. */
  readonly cost?: number | undefined
}

/** For how long answers that refuse may be held back: up to a minute. */
export const tarpitCheck: OptionCheck = (value, path) =>
  durationCheck(value, path) ??
  (ticksOf(value as number | string) > MOST_TARPIT_MS * 1_000 ? ['one minute at most'] : undefined)

export const softCheck: OptionCheck = /* @__PURE__ */ above0(1)
export const onLimitCheck: OptionCheck = /* @__PURE__ */ oneOf('deny', 'delay', 'deprioritize')
export const onStoreErrorCheck: OptionCheck = /* @__PURE__ */ oneOf('open', 'closed', 'local')
export const prefetchCheck: OptionCheck = /* @__PURE__ */ wholeFrom(2)

/** What the options of a rule may be. Each call is marked, so that who imports one check has not all of them. */
export const ruleFields: OptionFields<RuleOptions> = {
  onLimit: onLimitCheck,
  mode: /* @__PURE__ */ oneOf('enforce', 'shadow'),
  onStoreError: onStoreErrorCheck,
  soft: softCheck,
  block: blockOptions,
  blockable: flag,
  prefetch: prefetchCheck,
  assign: /* @__PURE__ */ oneOf('rlqs'),
  jitter: shareCheck,
  spread: flag,
  retryAfter: /* @__PURE__ */ oneOf('seconds', 'date'),
  tarpit: tarpitCheck,
  quota: flag,
  cost: /* @__PURE__ */ wholeFrom(0),
}
const RULE: OptionCheck = /* @__PURE__ */ objectOf(ruleFields)
const AN_OBJECT: OptionCheck = /* @__PURE__ */ recordOf(anything)

/**
 * Makes a rule of a plan and of what else was said.
 * @param name as clients see it
 * @param namespace of its counters: rules of one namespace and one kind of plan share them
 * @throws ConfigError for options that are wrong, or contradict each other; `path` names the option
 * @example
 * const plan = planOf({ algorithm: 'token-bucket', limit: 10, period: '1s' })
 * const rule = ruleOf('api', 'shop/api', plan, { soft: 0.8 })
 */
export function ruleOf(name: string, namespace: string, plan: Plan, options: RuleOptions = {}): Rule {
  const [error] = ruleErrors(plan, options)
  if (error !== undefined) throw error
  return checkedRule(name, namespace, plan, options)
}

/**
 * The same, of options with the right types and without `assign`: a limiter has none, and need not load its check.
 * @throws ConfigError where they contradict each other
 */
export function ruleOfChecked(
  name: string,
  namespace: string,
  plan: Plan,
  options: Omit<RuleOptions, 'assign'>,
): Rule {
  const [error] = contradictions(plan, options)
  if (error !== undefined) throw error
  return checkedRule(name, namespace, plan, options)
}

function checkedRule(name: string, namespace: string, plan: Plan, options: RuleOptions): Rule {
  const { onLimit = 'deny', onStoreError = 'open', soft, jitter, spread = false } = options
  const role = roleOf(options)
  return {
    name,
    namespace,
    plan,
    role,
    onLimit,
    onStoreError,
    windowSeconds: windowSecondsOf(plan),
    soft,
    block: canRefuse(role) ? blockPlanOf(options) : undefined,
    prefetch: prefetchOf(options.prefetch, plan),
    jitter,
    spread: spread ? plan.period * plan.unit : 0,
    ...(options.assign !== undefined && { assign: options.assign }),
    ...(options.retryAfter !== undefined && { retryAfter: options.retryAfter }),
    ...(options.tarpit !== undefined && { tarpitMs: tarpitOf(options.tarpit) }),
  }
}

function roleOf({ mode, onLimit, quota }: RuleOptions): Role {
  if (mode === 'shadow') return 'shadow'
  if (onLimit === 'deprioritize') return 'deprioritize'
  return quota ? 'quota' : 'enforce'
}

function blockPlanOf({ block, blockable }: RuleOptions): BlockPlan | undefined {
  if (block === undefined) return blockable ? blockByHand : undefined
  return under(['block'], () => blockPlan(block))
}

/**
 * What is wrong with a rule's options, one error for each.
 * @example
 * ruleErrors(plan, { soft: 2 }).map(({ message }) => message) // ['soft must be a number above 0, up to 1, not 2']
 */
export function ruleErrors(plan: Plan, options: RuleOptions): readonly ConfigError[] {
  const wrong = typeErrors(options)
  return wrong.length > 0 ? wrong : [...contradictions(plan, options), ...assignContradictions(plan, options)]
}

function typeErrors(options: RuleOptions): readonly ConfigError[] {
  if (errorsOf([() => checkOptions(options, RULE)]).length === 0) return [] // most are right, and there are thousands
  return errorsOf([
    () => checkOptions(options, AN_OBJECT),
    ...Object.entries(options ?? {}).map(
      ([name, value]) =>
        () =>
          checkOptions({ [name]: value }, RULE),
    ),
  ])
}

function contradictions(plan: Plan, options: RuleOptions): readonly ConfigError[] {
  const { onLimit, block, blockable, prefetch, spread } = options
  const { name, traits } = plan.algorithm
  const errors = [...errorsOf([() => checkDelay(plan, options)])]
  const refuse = (field: string, why: string): void => {
    errors.push(new ConfigError(why, { path: [field] }))
  }
  if (onLimit === 'deprioritize' && blockable) {
    refuse('blockable', 'a rule that only lowers the priority refuses no request, so no key can be blocked')
  }
  if (onLimit === 'deprioritize' && block !== undefined)
    refuse('block', 'a rule that only lowers the priority refuses no request, so it cannot block')
  if (spread && !traits.aligned) {
    refuse(
      'spread',
      typeof plan.source?.period === 'object'
        ? 'spread is not supported with a calendar period: it would move windows off the calendar'
        : `spread is not supported by ${name}: its windows begin with each key already`,
    )
  }
  if (prefetch !== undefined) {
    const blocks = block !== undefined || blockable === true
    errors.push(...errorsOf([() => checkPrefetch(prefetch, plan, roleOf(options), blocks, options.cost)]))
  }
  return errors
}

function assignContradictions(plan: Plan, options: RuleOptions): readonly ConfigError[] {
  const { assign, block, onLimit } = options
  if (assign === undefined) return []
  return errorsOf([
    () => checkAssign(plan, roleOf(options), { block: block !== undefined, delay: onLimit === 'delay' }),
  ])
}

/** Queues delay by themselves; with others, requests past the soft threshold wait (soft-delay.ts). */
function checkDelay(
  { algorithm: { name, traits }, source }: Plan,
  { onLimit, soft, prefetch }: RuleOptions,
): void {
  if (onLimit !== 'delay' || traits.queues) return
  const refuse = (field: string, why: string): never => {
    throw new ConfigError(why, { path: [field] })
  }
  if (traits.holds) refuse('onLimit', `delay is not supported by ${name}: what it counts has no rate`)
  if (typeof source?.period === 'object')
    refuse('onLimit', 'delay is not supported with a calendar period, which has no fixed length')
  if (soft === undefined) {
    refuse(
      'onLimit',
      `delay is not supported by ${name} without soft, the share of the limit past which requests wait; leaky-bucket needs none`,
    )
  }
  if (soft === 1) refuse('soft', 'soft must be below 1 with delay: no request would ever wait')
  if (prefetch !== undefined)
    refuse('prefetch', 'taking units ahead is not supported beside delay, which has to see every request')
}

/**
 * Milliseconds for which an answer that refuses is held back.
 * @param tarpit milliseconds or text
 * @throws ConfigError above a minute
 * @example
 * tarpitOf('2s') // 2000
 */
export function tarpitOf(tarpit: number | string): number {
  const ms = ticksOf(tarpit, ['tarpit']) / 1_000
  if (ms > MOST_TARPIT_MS) throw new ConfigError('tarpit must be one minute at most', { path: ['tarpit'] })
  return ms
}
