import {
  type Cells,
  droppableAt,
  type Figures,
  figuresOf,
  instantOf,
  inUnits,
  type Plan,
} from '@sluice/limiter/algorithms'
import { checkOneCall } from './one-call.ts'

/** One key of one policy, run as a store runs it. Instants are readings of the clock, in microseconds. */
export interface StateUnderTest {
  readonly cells: Cells
  decide(ticks: number, cost: number, chargeId: number): Figures
  /** Corrects a charge made at `charged`: above 0 takes more, below 0 gives back. */
  settle(ticks: number, change: number, charged: number, chargeId: number): void
  /** When the state may be dropped, in microseconds; `undefined` while there is none. */
  droppableAt(): number | undefined
  /** Forgets the state if it may be dropped by now; `true` if it was. */
  drop(ticks: number): boolean
}

/**
 * One key without any state yet.
 * @example
 * const subject = stateUnderTest(planOf({ algorithm: 'gcra', limit: 10, period: '1s' }))
 * subject.decide(0, 1, 0).remaining // 9
 */
export function stateUnderTest(plan: Plan): StateUnderTest {
  const { algorithm } = plan
  const none: Cells = new Float64Array(8)
  let cells: Cells | undefined

  const lastOf = (state: Cells): number => inUnits(plan, state[0]!)

  function withRoom(now: number): Cells {
    const run = cells ?? new Float64Array(plan.size)
    const room = plan.size === 0 ? algorithm.room!(plan, run, now) : plan.size
    if (room === run.length) return run
    const other = new Float64Array(room)
    other.set(run.subarray(0, room))
    return other
  }

  function charge(ticks: number, cost: number, chargeId: number, raises: boolean): Cells {
    const [last, now] = [lastOf(cells ?? none), inUnits(plan, ticks)]
    const left = algorithm.remaining(plan, cells ?? none, 0, last, now)
    const run = withRoom(now)
    algorithm.charge(plan, run, 0, last, now, cost, chargeId, left, raises)
    run[0] = ticks
    cells = run
    return run
  }

  return {
    get cells() {
      return cells ?? none
    },
    decide(ticks, cost, chargeId) {
      const found = cells ?? none
      const used = instantOf(found, 0, ticks)
      const [last, now] = [lastOf(found), inUnits(plan, used)]
      const left = algorithm.remaining(plan, found, 0, last, now)
      const allowed = cost === 0 || cost <= left
      const charged = allowed && cost > 0
      const delay = charged ? (algorithm.delay?.(plan, found, 0, last, now) ?? 0) : 0
      const before = (charged ? withRoom(now) : found).slice()
      const after = charged ? charge(used, cost, chargeId, false) : found
      const then = lastOf(after)
      const rest = algorithm.remaining(plan, after, 0, then, now)
      const reading = { now, ticks: used, allowed, delay }
      const figures = figuresOf(plan, { ...reading, cells: after, offset: 0, last: then, left: rest }, cost)
      checkOneCall(plan, { before, after, reading: { ...reading, last, left }, cost, charged, figures })
      return figures
    },
    settle(ticks, change, charged, chargeId) {
      const used = instantOf(cells ?? none, 0, ticks)
      if (change > 0) charge(used, change, chargeId, true)
      else if (cells !== undefined) {
        const now = inUnits(plan, used)
        algorithm.refund(plan, cells, 0, lastOf(cells), now, -change, inUnits(plan, charged), chargeId)
      }
    },
    droppableAt: () => (cells === undefined ? undefined : droppableAt(plan, cells, 0)),
    drop(ticks) {
      const due = cells !== undefined && ticks >= droppableAt(plan, cells, 0)
      if (due) cells = undefined
      return due
    },
  }
}
