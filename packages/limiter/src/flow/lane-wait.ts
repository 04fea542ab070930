import { type Decision, receiptOf } from '../core/decide/decision.ts'
import { canRefuse } from '../core/decide/role.ts'
import { holdsSlots, type Step, stateText } from '../core/decide/step.ts'
import type { Barrier, Lane } from './lane.ts'
import type { Waiter } from './waiter.ts'

/** Slots that others release are noticed after so many milliseconds at most: nothing says that they are free. */
export const LOOK_AGAIN_MS = 1_000

/** What refused a step: its counter. */
export function nameOf({ rule, key }: Step): string {
  return stateText(rule.namespace, rule.plan, key)
}

export interface LaneWait {
  readonly name: string
  readonly ms: number
  /** What no release of a slot makes shorter. */
  readonly firmMs: number
  /** How much later than that the limit is still not whole. */
  readonly slackMs: number
}

/** Where a refused one waits, and how long; `undefined`: no wait helps. A slot can be released before its time is over. */
export function waitOf(decision: Decision): LaneWait | undefined {
  const { retryAfterMs } = decision
  if (retryAfterMs === null || retryAfterMs === 0) return undefined
  const { steps, outcome } = receiptOf(decision)!
  let slots: Step | undefined
  let firm: Step | undefined
  let firmMs = 0
  let resetMs = 0
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!
    const own = outcome.figures[i]!
    if (own.allowed || !canRefuse(step.rule.role)) continue
    const ms = own.retryAfterMs ?? Number.POSITIVE_INFINITY
    if (holdsSlots(step) && !own.blocked) slots = step
    else if (firm === undefined || ms > firmMs) {
      firm = step
      firmMs = ms
      resetMs = own.resetAfterMs ?? 0
    }
  }
  if (firmMs === Number.POSITIVE_INFINITY) return undefined
  if (slots === undefined || firmMs >= retryAfterMs) {
    const slackMs = Math.max(0, resetMs / 4 - firmMs)
    return { name: nameOf(firm!), ms: firmMs, firmMs, slackMs }
  }
  const ms = Math.min(Math.max(firmMs, LOOK_AGAIN_MS), retryAfterMs)
  return { name: nameOf(slots), ms, firmMs, slackMs: 0 }
}

/** Units of each step that come through before the waiter, and with it: its lane's, and its share of what others ask for. */
export function unitsBefore(lane: Lane, waiter: Waiter, barrier: Barrier): number[] {
  const own = waiter.steps.map((_, i) => lane.unitsTo(waiter.priority, i))
  if (waiter.after !== undefined) {
    for (let later: Waiter | undefined = waiter.after; later !== undefined; later = later.after)
      for (let i = 0; i < own.length; i++) own[i]! -= later.steps[i]!.cost
  }
  return own.map((units, i) => {
    const urgent = lane.unitsTo(waiter.priority - 1, i)
    let sum = units
    for (const other of barrier.lanes.items) {
      const j = other === lane ? -1 : other.names.indexOf(lane.names[i]!)
      if (j < 0) continue
      const before = other.unitsTo(waiter.priority - 1, j)
      // Of the same priority, fair turns: no more than it has itself.
      sum +=
        before + Math.min(other.unitsTo(waiter.priority, j) - before, units - urgent - waiter.steps[i]!.cost)
    }
    return sum
  })
}
