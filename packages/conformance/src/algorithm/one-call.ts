import type { Cells, Figures, Plan, Reading, Waits } from '@sluice/limiter/algorithms'

/** Integers before the state, where it may stand anywhere: an index that forgets its offset reads these. */
const BEFORE = 3

/** What a request found, as the functions of the algorithm say, and what became of it. */
export interface Decided {
  /** Before the charge, with room for it. */
  readonly before: Cells
  readonly after: Cells
  readonly reading: Omit<Reading, 'cells' | 'offset'>
  readonly cost: number
  readonly charged: boolean
  readonly figures: Figures
}

/**
 * Holds `read` and `answer` of an algorithm, and `decide`, where it has them, to its other functions.
 * @throws Error that says what differs
 */
export function checkOneCall(plan: Plan, decided: Decided): void {
  const { read, answer, decide } = plan.algorithm
  if ((read === undefined) !== (answer === undefined))
    throw new Error('an algorithm has both `read` and `answer`, or neither')
  const { reading, cost, charged } = decided
  if (read !== undefined && answer !== undefined) {
    const own = unread(plan, decided)
    read.call(plan.algorithm, plan, own, cost)
    same('allowed', own.allowed, reading.allowed)
    same('left', own.left, reading.left)
    same('delay', own.delay, reading.delay)
    answer.call(plan.algorithm, plan, own, cost, charged)
    // The instant is written by who charges.
    if (charged) own.cells[own.offset] = reading.ticks
    checkAnswer(plan, own, decided)
  }
  if (decide === undefined || plan.unit !== 1) return
  const peek = reading.allowed && !charged
  // At the instant of the last admission a clock that stepped back may have been read, too.
  const at = reading.ticks === decided.before[0] ? reading.ticks - 1 : reading.ticks
  for (const isStated of [true, false]) {
    const own = unread(plan, decided)
    const allowed = decide.call(plan.algorithm, plan, own, at, cost, peek, isStated)
    same('what `decide` says', allowed, reading.allowed)
    if (!isStated) checkState(own, decided)
    else {
      same('allowed', own.allowed, reading.allowed)
      same('delay', own.delay, reading.delay)
      same('the instant', own.ticks, reading.ticks)
      same('the instant in units', own.now, reading.now)
      checkAnswer(plan, own, decided)
    }
  }
}

type OwnAnswer = Reading & Waits

/** The state as the request found it, not read yet. */
function unread(plan: Plan, { before, reading }: Decided): OwnAnswer {
  const offset = plan.size === 0 ? 0 : BEFORE
  const cells = new Float64Array(offset + before.length).fill(7)
  cells.set(before, offset)
  const unset = { left: Number.NaN, allowed: false, delay: Number.NaN }
  return { ...reading, ...unset, cells, offset, retry: Number.NaN, more: Number.NaN, reset: Number.NaN }
}

function checkAnswer(plan: Plan, own: OwnAnswer, decided: Decided): void {
  const { reading, figures } = decided
  const ms = (wait: number): number | null =>
    wait === 0
      ? 0
      : wait === Number.POSITIVE_INFINITY
        ? null
        : (wait * plan.unit - (reading.ticks - reading.now * plan.unit)) / 1_000
  same('left after the charge', Math.max(0, own.left), figures.remaining)
  same('retry', ms(own.retry), figures.retryAfterMs)
  same('more', ms(own.more), figures.moreAfterMs)
  same('reset', ms(own.reset), figures.resetAfterMs)
  checkState(own, decided)
}

function checkState({ cells, offset }: OwnAnswer, { after }: Decided): void {
  for (let i = 0; i < cells.length; i++)
    same(`integer ${i - offset} of the state`, cells[i], i < offset ? 7 : after[i - offset])
}

function same(what: string, one: unknown, other: unknown): void {
  if (!Object.is(one, other) && one !== other)
    throw new Error(
      `by \`read\` and \`answer\`, or \`decide\`, ${what} is ${one}; by the other functions ${other}`,
    )
}
