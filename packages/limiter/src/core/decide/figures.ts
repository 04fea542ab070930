import type { Cells, Plan, Reading, StatePlan, Waits } from './algorithm.ts'

/**
 * The numbers of a decision: what one policy says of one request. Durations are milliseconds, exact to the
 * microsecond, counted from the decision.
 *
 * For example, of a token bucket of 10 per second that has 3 tokens left: a cost of 2 is allowed, `remaining` is 1,
 * `moreAfterMs` 100 and `resetAfterMs` 900. A cost of 5 after it is refused with `retryAfterMs` 400; a cost of 11
 * with `null`, since no wait helps.
 */
export interface Figures {
  /** Would this policy alone admit the cost? */
  readonly allowed: boolean
  /** The capacity: what `remaining` is when nothing is in use. */
  readonly limit: number
  /** The largest whole cost that would be admitted right after this decision. */
  readonly remaining: number
  /** The smallest wait after which the same cost is admitted; 0 when admitted, `null`: no wait ever helps. */
  readonly retryAfterMs: number | null
  /** The smallest wait after which `remaining` has grown; `null` when the quota is full. */
  readonly moreAfterMs: number | null
  /** The smallest wait after which the whole quota is available; 0 when it is full, `null` where nothing refills it. */
  readonly resetAfterMs: number | null
  /** How long an admitted request should wait for its turn (queues); else 0. */
  readonly delayMs: number
  /** Refused by the rule's block, after too many refusals or by hand. Present only then. */
  readonly blocked?: true
}

/**
 * Figures as a decision states them. `remaining` is null where it is not known: the store did not answer, and the rule
 * is `open` or `closed`. Then `moreAfterMs` and `resetAfterMs` are null as well.
 */
export interface StatedFigures<Remaining extends number | null = number | null>
  extends Omit<Figures, 'remaining'> {
  readonly remaining: Remaining
}

/**
 * Whether figures are known.
 * @example
 * const left = isKnown(figures) ? figures.remaining : 0
 */
export function isKnown(figures: StatedFigures): figures is Figures {
  return figures.remaining !== null
}

export const NEVER: number = Number.POSITIVE_INFINITY

/**
 * The instant that counts: a clock that stepped back is held at the key's last admission. All in microseconds.
 * @example
 * const now = inUnits(plan, instantOf(cells, 0, clock.now()))
 */
export function instantOf(cells: Cells, offset: number, clock: number): number {
  return Math.max(clock, cells[offset] ?? 0)
}

/**
 * An instant in the plan's units, rounded down. @param ticks microseconds
 * @example
 * const last = inUnits(plan, cells[0])
 */
export function inUnits({ unit }: Pick<StatePlan, 'unit'>, ticks: number): number {
  return unit === 1 ? ticks : Math.floor(ticks / unit)
}

/**
 * The instant in microseconds at which a reading charges: the one used, and the turn of a request that queues.
 */
export function chargeInstant(
  { unit }: Pick<StatePlan, 'unit'>,
  { now, ticks, delay }: InstantReading,
): number {
  return delay > 0 && delay < NEVER ? (now + delay) * unit : ticks
}

type InstantReading = Pick<Reading, 'now' | 'ticks' | 'delay'>

/** What figures are made of, beside the waits. */
export type StatedReading = Pick<Reading, 'now' | 'ticks' | 'left' | 'allowed' | 'delay'>

/**
 * The five figures, from state that already holds the charge if there was one.
 * @example
 * const reading = { cells, offset: 0, last: now, now, ticks, left, allowed: true, delay: 0 }
 * const { remaining, resetAfterMs } = figuresOf(plan, reading, 1)
 */
export function figuresOf(plan: Plan, reading: Readonly<Reading>, cost: number): Figures {
  const waits = { retry: 0, more: 0, reset: 0 }
  findWaits(plan, reading, cost, waits)
  return figuresFrom(plan, reading, waits.retry, waits.more, waits.reset)
}

/** Writes the waits of the figures, from state that already holds the charge if there was one. */
export function findWaits(plan: Plan, reading: Readonly<Reading>, cost: number, waits: Waits): void {
  const { algorithm, capacity } = plan
  const { cells, offset, last, now, left, allowed } = reading
  const remaining = Math.max(left, 0)
  const full = remaining >= capacity
  const retry = allowed
    ? 0
    : cost > capacity
      ? NEVER
      : algorithm.wait(plan, cells, offset, last, now, cost, left)
  const next = remaining + 1
  const more = full
    ? NEVER
    : next === cost && !allowed
      ? retry
      : algorithm.wait(plan, cells, offset, last, now, next, left)
  const reset = full
    ? 0
    : next === capacity
      ? more
      : algorithm.wait(plan, cells, offset, last, now, capacity, left)
  waits.retry = retry
  waits.more = more
  waits.reset = reset
}

/**
 * The figures in milliseconds from waits in the plan's units, where infinity means never. They count from the instant
 * used, in microseconds.
 */
export function figuresFrom(
  plan: StatePlan,
  reading: Readonly<StatedReading>,
  retry: number,
  more: number,
  reset: number,
): Figures {
  const { unit } = plan
  const { left, allowed, delay } = reading
  const into = intoUnit(reading, unit)
  return {
    allowed,
    limit: plan.capacity,
    remaining: Math.max(left, 0),
    retryAfterMs: inMs(retry, unit, into),
    moreAfterMs: inMs(more, unit, into),
    resetAfterMs: inMs(reset, unit, into),
    delayMs: inMs(delay, unit, into) ?? 0,
  }
}

/** Microseconds of the first unit of a wait that have passed. */
export function intoUnit({ ticks, now }: InstantReading, unit: number): number {
  return unit === 1 ? 0 : ticks - now * unit
}

/**
 * A wait in milliseconds; `null`: never.
 * @param into microseconds of the first unit that have passed
 */
export function inMs(wait: number, unit: number, into: number): number | null {
  if (wait === 0) return 0
  return wait === NEVER ? null : (wait * unit - into) / 1_000
}

/** A rule's figures while it is blocked: nothing remains, and no wait is shorter than the block's. */
export function underBlock(own: Figures, blockedTicks: number): Figures {
  const wait = blockedTicks / 1_000
  return {
    ...own,
    allowed: false,
    remaining: 0,
    retryAfterMs: own.allowed ? wait : own.retryAfterMs === null ? null : Math.max(own.retryAfterMs, wait),
    moreAfterMs: own.remaining > 0 ? wait : Math.max(own.moreAfterMs ?? 0, wait),
    resetAfterMs: own.resetAfterMs === null ? null : Math.max(own.resetAfterMs, wait),
    blocked: true,
  }
}

/**
 * The instant, in microseconds since the epoch, from which this state means the same as none to this plan: it may be
 * deleted then, and not before.
 * @param phase microseconds by which the key's time is behind that of others
 * @example
 * const isOver = droppableAt(plan, cells, 0) <= clock.now()
 */
export function droppableAt(plan: StatePlan, cells: Cells, offset: number, phase = 0): number {
  const { algorithm, capacity } = plan
  if (capacity === 0) return 0
  const last = inUnits(plan, cells[offset]! - phase)
  if (algorithm.idle !== undefined)
    return (last + algorithm.idle(plan, cells, offset, last, last)) * plan.unit + phase
  const left = algorithm.remaining(plan, cells, offset, last, last)
  return (last + algorithm.wait(plan, cells, offset, last, last, capacity, left)) * plan.unit + phase
}
