import { ticksOf } from '../../time.ts'
import type { Algorithm, Plan } from '../algorithm.ts'
import { MAX, wholeNumber } from '../integers.ts'

export interface BlockPlan extends Plan {
  readonly after: number
  readonly within: number
}

/**
 * A guard: after `after` refusals within `within` it refuses everything `for` a time. It stands beside the policy
 * whose refusals it counts, and limits nothing until then.
 *
 * Cells: last refusal counted, refusals, when their count began, end of the block.
 */
export const block: Algorithm<BlockPlan> = {
  name: 'block',
  plan() {
    throw new TypeError('a block is planned by blockPlan')
  },
  remaining: (_plan, cells, at, now) => (now < cells[at + 3]! ? 0 : MAX),
  /** A whole quota (`MAX`) also needs the refusals counted so far to have aged out. */
  wait(plan, cells, at, now, cost) {
    const counting = cost === MAX && cells[at + 1]! > 0 ? cells[at + 2]! + plan.within : 0
    return Math.max(0, cells[at + 3]! - now, counting - now)
  },
  /** Blocks outright, for `cost` units of time. */
  charge(_plan, cells, at, now, cost) {
    cells[at + 3] = Math.max(cells[at + 3]!, now + cost)
  },
  refund(_plan, cells, at) {
    cells[at + 1] = 0
    cells[at + 3] = 0
  },
  refuse(plan, cells, at, now) {
    if (now < cells[at + 3]!) return
    if (cells[at + 1] === 0 || now - cells[at + 2]! >= plan.within) {
      cells[at + 1] = 0
      cells[at + 2] = now
    }
    cells[at + 1]! += 1
    if (cells[at + 1]! < plan.after) return
    cells[at + 1] = 0
    cells[at + 3] = now + plan.period
  },
}

/** @throws ConfigError for numbers or durations that mean nothing. */
export function blockPlan(options: {
  readonly after: number
  readonly within: number | string
  readonly for: number | string
}): BlockPlan {
  const period = ticksOf(options.for)
  const within = ticksOf(options.within)
  return {
    algorithm: block as Algorithm,
    kind: `block/${within}/${period}`,
    capacity: MAX,
    limit: MAX,
    period,
    unit: 1,
    size: 4,
    ceiling: MAX,
    after: wholeNumber('after', options.after, 1),
    within,
  }
}
