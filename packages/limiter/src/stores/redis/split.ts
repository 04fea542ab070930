import { chargesOf } from '../../core/decide/charges.ts'
import { admitted } from '../../core/decide/combine.ts'
import type { StatedFigures } from '../../core/decide/figures.ts'
import { chargedAt } from '../../core/decide/outcome.ts'
import type { Rule } from '../../core/decide/rule.ts'
import type { Charge, Outcome, Step } from '../store.ts'

/** Steps of one request in one slot of a cluster. */
interface Group {
  readonly slot: number
  /** Their places in the request. */
  readonly places: readonly number[]
  readonly steps: readonly Step[]
}

/** How one slot is asked. */
export interface SlotClient {
  decide(steps: readonly Step[], peek: boolean, slot: number): Promise<Outcome>
  settle(charges: readonly Charge[]): Promise<boolean>
}

/**
 * One decision over several slots, which no script can make at once: each slot decides on its own steps, and where
 * another then refuses, gets back what it charged. Until then, for a trip or two, others can be refused up to that
 * cost; no request is admitted that should not be. A block counts refusals in its own slot.
 *
 * Nodes' clocks differ. The answer's `at` is the latest of theirs.
 */
export async function decideSplit(
  steps: readonly Step[],
  peek: boolean,
  slots: readonly number[],
  ask: SlotClient,
): Promise<Outcome> {
  const groups = groupsOf(steps, slots)
  const asked = groups.map((group) => ask.decide(group.steps, peek, group.slot))
  const answers = await Promise.allSettled(asked)
  const outcomes = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  const failed = answers.find((answer) => answer.status === 'rejected')
  const figures = gathered(groups, outcomes)
  const at = Math.max(...outcomes.map((outcome) => outcome?.at ?? 0))
  const allowed = failed === undefined && admitted(steps, figures)
  if (allowed || (peek && failed === undefined)) {
    return { allowed, at, figures, instants: instantsOf(groups, outcomes) }
  }
  const after = await Promise.all(groups.map((group, i) => undone(group, outcomes[i], peek, ask)))
  if (failed !== undefined) throw failed.reason
  return { allowed, at, figures: gathered(groups, after) }
}

/** What a group says once it has back what it charged. */
async function undone(
  group: Group,
  outcome: Outcome | undefined,
  peek: boolean,
  ask: SlotClient,
): Promise<Outcome | undefined> {
  const charges = outcome === undefined ? [] : refundsOf(group, outcome, peek)
  if (charges.length === 0) return outcome
  await ask.settle(charges)
  return ask.decide(group.steps, true, group.slot)
}

/** When each step was charged, by its own node. */
function instantsOf(groups: readonly Group[], outcomes: readonly (Outcome | undefined)[]): number[] {
  const instants: number[] = []
  for (const [i, { places }] of groups.entries()) {
    for (const [j, place] of places.entries()) instants[place] = chargedAt(outcomes[i]!, j)
  }
  return instants
}

/** The figures of all groups in the order of the request's steps. */
function gathered(groups: readonly Group[], outcomes: readonly (Outcome | undefined)[]): StatedFigures[] {
  const figures: StatedFigures[] = []
  for (const [i, { places }] of groups.entries()) {
    for (const [j, place] of places.entries()) {
      const own = outcomes[i]?.figures[j]
      if (own !== undefined) figures[place] = own
    }
  }
  return figures
}

/** Whether a quota is spent only the whole request can tell, so within a group it never refuses. */
function groupsOf(steps: readonly Step[], slots: readonly number[]): readonly Group[] {
  return [...new Set(slots)].map((slot) => {
    const places = slots.flatMap((each, place) => (each === slot ? [place] : []))
    const own = places.map((place) => withinGroup(steps[place]!))
    return { slot, places, steps: own }
  })
}

/** A quota's refusal counts for the whole request; here it only reports, and its block is that of an enforced rule. */
function withinGroup(step: Step): Step {
  if (step.rule.role !== 'quota') return step
  const rule: Rule = { ...step.rule, role: 'shadow' }
  return { ...step, rule }
}

function refundsOf({ steps }: Group, outcome: Outcome, peek: boolean): Charge[] {
  const charged = { steps, outcome, charged: outcome.allowed && !peek, binding: undefined }
  return chargesOf(charged, () => 0).filter(({ change }) => change < 0)
}
