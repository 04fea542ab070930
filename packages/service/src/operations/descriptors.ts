import { chargedAt, decisionOf, type Outcome, type Step } from '@sluice/limiter/decide'
import type { Observer } from '@sluice/limiter/events'
import { type Pipeline, type Reply, UnknownDomain } from '@sluice/limiter/pipeline'
import type { MatchedDescriptors, MatchedLimit } from '@sluice/limiter/rules'
import type { FallbackStore } from '@sluice/limiter/stores/fallback'
import type { Store } from '@sluice/limiter/stores/store'
import { decideWithin } from '../bounded-store.ts'
import {
  type AskedDescriptor,
  type AskedStep,
  askedSteps,
  type DescriptorModes,
  RoleRules,
} from './asked-steps.ts'
import { Looks, ownOutcome } from './look.ts'

/** A request of descriptors, as envoyproxy/ratelimit's API means it. */
export interface DescriptorQuestion {
  readonly domain: string
  readonly descriptors: readonly AskedDescriptor[]
  /** Of descriptors without one of their own. */
  readonly cost: number
  /** Milliseconds that the caller waits, above 0: then the rules' own `onStoreError` answer. */
  readonly withinMs: number
}

/** What came of one descriptor. */
export interface DescriptorResult {
  /** Absent where no limit matched, or another replaces it. */
  readonly limit?: MatchedLimit | undefined
  /** Absent where nothing is counted. */
  readonly step?: Step
  readonly figures?: Outcome['figures'][number]
  readonly cost: number
  readonly refund: boolean
}

export interface DescriptorReply extends Pick<Reply, 'decision' | 'response'> {
  /** Whether rules are loaded for the domain. */
  readonly known: boolean
  /** The store's clock, in microseconds. */
  readonly at: number
  readonly results: readonly DescriptorResult[]
}

export interface DescriptorParts extends DescriptorModes {
  readonly pipeline: Pipeline<boolean>
  readonly store: Store
  readonly fallback?: FallbackStore | undefined
  readonly observe: Observer
  /** Keeps the request that is served now, for what it does after it has waited. */
  readonly carry?: (() => <T>(go: () => T) => T) | undefined
}

/** Limits that were looked at first: so many are remembered. */
const MOST_LOOKED_AT = 10_000

/**
 * Decides requests of descriptors. What it adds to `check`:
 * - a domain that no rule names is not limited;
 * - a cost of 0 looks: it is refused while the limit is in debt, and charges nothing;
 * - a limit that was looked at is charged in full by descriptors with a cost of their own, also where they do not fit:
 *   that is how Envoy reports what a response has used (`apply_on_stream_done`);
 * - `refund` gives back, at most what the present window or bucket has in use;
 * - an answer within the caller's bound.
 */
export function descriptorDecider(
  parts: DescriptorParts,
): (question: DescriptorQuestion) => Promise<DescriptorReply> {
  const { pipeline, store, observe, carry = () => (go) => go() } = parts
  const looks = new Looks()
  const roles = new RoleRules(parts)
  /** Namespaces. */
  const lookedAt = new Set<string>()

  const refund = async (
    steps: readonly AskedStep[],
    at: number | undefined,
    left: () => number,
  ): Promise<void> => {
    const given = steps.filter((asked) => asked.refund > 0)
    if (given.length === 0) return
    const asked = given.map(({ step }) => ({ ...step, cost: 0 }))
    const now = at ?? (await decideWithin(parts, asked, true, left())).at
    await store.settle(given.map(({ step, refund: units }) => ({ step, at: now, change: -units })))
  }

  /** Charges in full what was used already. */
  const debit = async (steps: readonly AskedStep[], outcome: Outcome): Promise<void> => {
    if (outcome.degraded) return
    const due = steps.flatMap(({ step, own }, i) => {
      const isCharged = outcome.allowed && outcome.figures[i]!.allowed
      if (own === 0 || isCharged || !lookedAt.has(step.rule.namespace)) return []
      return [{ step, at: chargedAt(outcome, i), change: own }]
    })
    if (due.length > 0) await store.settle(due)
  }

  /** Looks first, where something is to be looked at, and charges nothing where that is refused. */
  const decide = async (
    steps: readonly AskedStep[],
    left: () => number,
  ): Promise<{ outcome: Outcome; looked: boolean }> => {
    const looking = (i: number): boolean => isLook(steps[i]!)
    for (const { step, looks: wasLook } of steps) {
      if (wasLook && lookedAt.size < MOST_LOOKED_AT) lookedAt.add(step.rule.namespace)
    }
    const asked = steps.map(({ step }, i) => (looking(i) ? looks.step(step) : step))
    const seen = ownOutcome(
      await decideWithin(parts, asked, true, left()),
      steps.map(({ step }) => step),
      looking,
    )
    const charged = steps.filter(({ step }) => step.cost > 0)
    if (!seen.allowed || charged.length === 0) return { outcome: seen, looked: true }
    const own = await decideWithin(
      parts,
      charged.map(({ step }) => step),
      false,
      left(),
    )
    let next = 0
    const figures = seen.figures.map((figures, i) =>
      steps[i]!.step.cost > 0 ? own.figures[next++]! : figures,
    )
    return {
      outcome: { allowed: own.allowed, at: own.at, figures, ...(own.degraded && { degraded: true }) },
      looked: false,
    }
  }

  return async (question) => {
    const { domain, descriptors, cost, withinMs } = question
    const within = carry()
    const began = performance.now()
    const left = (): number => Math.max(1, withinMs - (performance.now() - began))
    const { matched, known } = match(pipeline, question)
    const { steps, statuses } = askedSteps(descriptors, cost, matched, roles)
    // Mostly all are charged: then nothing is waited for that is there already.
    const isPlain = steps.every(({ step: { cost: charged }, refund: units }) => charged > 0 && units === 0)
    const decided = isPlain ? steps : steps.filter(isDecided)
    const given = isPlain ? NOTHING_GIVEN : steps.filter((asked) => !isDecided(asked))
    const asked = decided.map(({ step }) => step)
    let outcome = NOBODY
    let looked = false
    if (isPlain || !decided.some(isLook)) {
      const answer = decided.length === 0 ? NOBODY : decideWithin(parts, asked, false, left())
      outcome = answer instanceof Promise ? await answer : answer
    } else ({ outcome, looked } = await decide(decided, left))
    const decision = decisionOf(asked, outcome, looked)
    if (known) within(() => observe({ type: 'decided', domain, decision, peek: looked && outcome.allowed }))
    if (lookedAt.size > 0) await debit(decided, outcome)
    if (!isPlain) await refund(steps, decided.length > 0 ? outcome.at : undefined, left)
    const after =
      given.length === 0
        ? undefined
        : await decideWithin(
            parts,
            given.map(({ step }) => step),
            true,
            left(),
          )
    if (known) observe({ type: 'answered', domain, ms: performance.now() - began, layer: 'edge' })
    const { response } = pipeline.respond(decision, matched, cost)
    return {
      decision,
      response,
      known,
      at: outcome.at,
      results: statuses.map(({ limit, place, cost: units, refund: isRefund }) => {
        if (place < 0) return { limit, cost: units, refund: isRefund }
        const own = steps[place]!
        const at = isPlain ? place : decided.indexOf(own)
        const figures = at < 0 ? after!.figures[given.indexOf(own)]! : outcome.figures[at]!
        return { limit, step: own.step, figures, cost: units, refund: isRefund }
      }),
    }
  }
}

/** Where nothing is to be asked, no store is. */
const NOBODY: Outcome = { allowed: true, at: 0, figures: [] }
const NOTHING: MatchedDescriptors['steps'] = []
const NOTHING_GIVEN: readonly AskedStep[] = []

/** Looked at or charged; others only give back. */
function isDecided({ looks, step }: AskedStep): boolean {
  return looks || step.cost > 0
}

function isLook({ looks, step }: AskedStep): boolean {
  return looks && step.cost === 0
}

function match(
  pipeline: Pipeline<boolean>,
  { domain, descriptors, cost }: DescriptorQuestion,
): { readonly matched: MatchedDescriptors; readonly known: boolean } {
  const queries = descriptors.some(({ refund }) => refund !== undefined)
    ? descriptors.map(({ refund: _, ...query }) => query)
    : descriptors
  try {
    return {
      matched: pipeline.match({ domain, descriptors: queries, cost }) as MatchedDescriptors,
      known: true,
    }
  } catch (error) {
    if (!(error instanceof UnknownDomain)) throw error
    const statuses = descriptors.map(() => ({ step: -1 }))
    return { matched: { steps: NOTHING, missing: [], statuses }, known: false }
  }
}
