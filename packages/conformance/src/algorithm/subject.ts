import {
  type Cells,
  droppableAt,
  type Figures,
  figuresOf,
  instantOf,
  inUnits,
  type Plan,
} from '@sluice/limiter/algorithms'

/** One key of one policy, run as a store runs it. Instants are readings of the clock, in microseconds. */
export interface StateUnderTest {
  readonly cells: Cells
  decide(ticks: number, cost: number, chargeId: number): Figures
  /** Corrects a charge made at `charged`: above 0 takes more, below 0 gives back. */
  settle(ticks: number, change: number, charged: number, chargeId: number): void
  /** When the state may be dropped, in units; `undefined` while there is none. */
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

  function charge(now: number, cost: number, chargeId: number): Cells {
    const left = algorithm.remaining(plan, cells ?? none, 0, now)
    let run = cells ?? new Float64Array(plan.size)
    const room = plan.size === 0 ? algorithm.room!(plan, run, now) : plan.size
    if (room > run.length) {
      const larger = new Float64Array(room)
      larger.set(run)
      run = larger
    }
    algorithm.charge(plan, run, 0, now, cost, chargeId, left)
    run[0] = now
    cells = run
    return run
  }

  return {
    get cells() {
      return cells ?? none
    },
    decide(ticks, cost, chargeId) {
      const before = cells ?? none
      const now = instantOf(before, 0, inUnits(plan, ticks))
      const allowed = cost === 0 || cost <= algorithm.remaining(plan, before, 0, now)
      const charged = allowed && cost > 0
      const delay = charged ? (algorithm.delay?.(plan, before, 0, now) ?? 0) : 0
      const after = charged ? charge(now, cost, chargeId) : before
      const left = algorithm.remaining(plan, after, 0, now)
      return figuresOf(plan, { cells: after, offset: 0, now, ticks, left, allowed, delay }, cost)
    },
    settle(ticks, change, charged, chargeId) {
      const now = instantOf(cells ?? none, 0, inUnits(plan, ticks))
      if (change > 0) charge(now, change, chargeId)
      else if (cells !== undefined) {
        algorithm.refund(plan, cells, 0, now, -change, Math.floor(charged / plan.unit), chargeId)
      }
    },
    droppableAt: () => (cells === undefined ? undefined : droppableAt(plan, cells, 0)),
    drop(ticks) {
      const due = cells !== undefined && Math.floor(ticks / plan.unit) >= droppableAt(plan, cells, 0)
      if (due) cells = undefined
      return due
    },
  }
}
