import type { Cells, Figures, Plan, Reading } from '@sluice/limiter/algorithms'

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
 * Holds `read` and `answer` of an algorithm, where it has them, to its other functions.
 * @throws Error that says what differs
 */
export function checkOneCall(plan: Plan, decided: Decided): void {
  const { read, answer } = plan.algorithm
  if ((read === undefined) !== (answer === undefined))
    throw new Error('an algorithm has both `read` and `answer`, or neither')
  if (read === undefined || answer === undefined) return
  const { before, after, reading, cost, charged, figures } = decided
  const offset = plan.size === 0 ? 0 : BEFORE
  const cells = new Float64Array(offset + before.length).fill(7)
  cells.set(before, offset)
  const unset = { left: Number.NaN, allowed: false, delay: Number.NaN }
  const own = { ...reading, ...unset, cells, offset, retry: Number.NaN, more: Number.NaN, reset: Number.NaN }
  read.call(plan.algorithm, plan, own, cost)
  same('allowed', own.allowed, reading.allowed)
  same('left', own.left, reading.left)
  same('delay', own.delay, reading.delay)
  answer.call(plan.algorithm, plan, own, cost, charged)
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
  // The instant is written by who charges.
  if (charged) cells[offset] = reading.ticks
  for (let i = 0; i < cells.length; i++)
    same(`integer ${i - offset} of the state`, cells[i], i < offset ? 7 : after[i - offset])
}

function same(what: string, one: unknown, other: unknown): void {
  if (!Object.is(one, other) && one !== other)
    throw new Error(`by \`read\` and \`answer\`, ${what} is ${one}; by the other functions ${other}`)
}
