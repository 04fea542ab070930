import { checkOptions, durationCheck, type OptionCheck, objectOf, wholeFrom } from '../../options.ts'
import { ticksOf } from '../../time.ts'
import type { Cells, Recovery, StatePlan } from '../algorithm.ts'
import { MAX } from '../integers.ts'

/** After how many refusals, within which time, a rule refuses everything, and for how long. */
export interface BlockOptions {
  /** Refusals; a whole number from 1. */
  readonly after: number
  /** Milliseconds or text such as `30s`: refusals further apart are not counted together. */
  readonly within: number | string
  /** Milliseconds or text such as `5m`: how long everything is refused then. */
  readonly for: number | string
}

/** What block options may be. */
export const blockOptions: OptionCheck = /* @__PURE__ */ objectOf<BlockOptions>(
  { after: /* @__PURE__ */ wholeFrom(1), within: durationCheck, for: durationCheck },
  ['after', 'within', 'for'],
)

export interface BlockPlan extends StatePlan {
  /** 0: refusals are not counted, and only `setBlock` begins a block. */
  readonly after: number
  /** Microseconds. */
  readonly within: number
}

/**
 * Cells of a block: last change, refusals counted, until when they count, end of the block. Its state stands beside
 * that of the rule: it limits nothing until it blocks. It says all about itself, so a changed rule keeps its blocks.
 */
const blockRecovery: Recovery<BlockPlan> = {
  name: 'block',
  remaining: (_plan, cells, offset, _last, now) => (now < cells[offset + 3]! ? 0 : MAX),
  /** A whole quota (`MAX`) also needs the refusals counted so far to have expired. */
  wait(_plan, cells, offset, _last, now, cost) {
    const counting = cost === MAX && cells[offset + 1]! > 0 ? cells[offset + 2]! : 0
    return Math.max(0, cells[offset + 3]! - now, counting - now)
  },
}

/**
 * What counts the refusals of a key, and refuses it for a time after too many.
 * @throws ConfigError whose `path` names the option
 * @example
 * blockPlan({ after: 5, within: '1m', for: '1h' }).period // 3600000000 microseconds
 */
export function blockPlan(options: BlockOptions): BlockPlan {
  checkOptions(options, blockOptions)
  return planFor(options.after, ticksOf(options.within), ticksOf(options.for))
}

/** A block that only `setBlock` begins. */
export const blockByHand: BlockPlan = /* @__PURE__ */ planFor(0, 1, 1)

function planFor(after: number, within: number, period: number): BlockPlan {
  return {
    algorithm: blockRecovery as Recovery,
    kind: 'block',
    capacity: MAX,
    limit: MAX,
    period,
    unit: 1,
    size: 4,
    ceiling: MAX,
    after,
    within,
  }
}

/** Microseconds for which everything is still refused; 0 when nothing is. */
export function blockedFor(cells: Cells, offset: number, now: number): number {
  return Math.max(0, cells[offset + 3]! - now)
}

/** Counts a refusal, and begins a block when that was one too many. Refusals during a block are not counted. */
export function countRefusal(plan: BlockPlan, cells: Cells, offset: number, now: number): void {
  if (now < cells[offset + 3]!) return
  if (cells[offset + 1] === 0 || now >= cells[offset + 2]!) {
    cells[offset + 1] = 0
    cells[offset + 2] = now + plan.within
  }
  cells[offset + 1]! += 1
  if (cells[offset + 1]! < plan.after) return
  cells[offset + 1] = 0
  cells[offset + 3] = now + plan.period
}

/** Blocks for so many microseconds at least; 0 ends a block, and forgets the refusals counted. */
export function setBlock(cells: Cells, offset: number, now: number, ticks: number): void {
  if (ticks === 0) cells[offset + 1] = 0
  cells[offset + 3] = ticks === 0 ? 0 : Math.max(cells[offset + 3]!, now + ticks)
}
