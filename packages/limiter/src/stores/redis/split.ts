import { admitted } from '../../core/decide/combine.ts'
import type { Figures } from '../../core/decide/figures.ts'
import type { Step } from '../../core/decide/step.ts'
import type { Charge, Outcome } from '../store.ts'

/** Steps of one request in one slot of a cluster. */
interface Group {
  readonly slot: number
  /** Their places in the request. */
  readonly places: readonly number[]
  readonly steps: readonly Step[]
}

/** What a group is done with. */
export interface Slots {
  decide(steps: readonly Step[], peek: boolean, slot: number): Promise<Outcome>
  settle(charges: readonly Charge[], slot: number): Promise<boolean>
}

/**
 * One decision over several slots, which no script can make at once: each slot decides on its own steps, and where
 * another then refuses, gets back what it charged. Until then, for a trip or two, others can be refused up to that
 * cost; nobody is admitted who should not be. A guard is told of refusals in its own slot by a step that enforces.
 *
 * Nodes' clocks differ. The answer's `at` is the latest of theirs.
 */
export async function decideSplit(
  steps: readonly Step[],
  peek: boolean,
  slots: readonly number[],
  { decide, settle }: Slots,
): Promise<Outcome> {
  const groups = groupsOf(steps, slots)
  const answers = await Promise.allSettled(groups.map((group) => decide(group.steps, peek, group.slot)))
  const figures: Figures[] = []
  const given: Promise<void>[] = []
  const note = ({ places }: Group, outcome: Outcome): void => {
    for (const [i, place] of places.entries()) figures[place] = outcome.figures[i]!
  }
  let at = 0
  groups.forEach((group, i) => {
    const answer = answers[i]!
    if (answer.status === 'rejected') return
    at = Math.max(at, answer.value.at)
    note(group, answer.value)
  })
  const failed = answers.find((answer) => answer.status === 'rejected')
  const allowed = failed === undefined && admitted(steps, figures)
  if (!allowed && !peek) {
    groups.forEach((group, i) => {
      const answer = answers[i]!
      if (answer.status === 'rejected' || !answer.value.allowed) return
      given.push(giveBack(group, answer.value))
    })
  }
  await Promise.all(given)
  if (failed !== undefined) throw failed.reason
  return { allowed, at, figures }

  async function giveBack(group: Group, outcome: Outcome): Promise<void> {
    const charges = chargesOf(group, outcome)
    if (charges.length === 0) return
    await settle(charges, group.slot)
    note(group, await decide(group.steps, true, group.slot))
  }
}

/** Whether a quota is spent only the whole request can tell, so within a group it never refuses. */
function groupsOf(steps: readonly Step[], slots: readonly number[]): readonly Group[] {
  return [...new Set(slots)].map((slot) => {
    const places = slots.flatMap((each, place) => (each === slot ? [place] : []))
    const own = places.map((place) => {
      const step = steps[place]!
      if (step.role === 'guard') return { ...step, watches: places.indexOf(step.watches ?? -1) }
      return step.role === 'quota' ? { ...step, role: 'shadow' as const } : step
    })
    return { slot, places, steps: own }
  })
}

function chargesOf({ steps }: Group, { at, figures }: Outcome): Charge[] {
  return steps.flatMap((step, i) =>
    figures[i]!.allowed && step.cost > 0 && step.role !== 'guard' ? [{ step, at, change: -step.cost }] : [],
  )
}
