import type { Cells, Plan } from './algorithm.ts'

/** What one policy says of one request. Durations in milliseconds, exact to the microsecond. */
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
}

const NEVER = Number.POSITIVE_INFINITY

/** The instant that counts: a clock that stepped back is held at the key's last admission. All in the plan's units. */
export function instantOf(cells: Cells, at: number, clock: number): number {
  return Math.max(clock, cells[at] ?? 0)
}

/** The clock's reading in the plan's units. */
export function inUnits({ unit }: Plan, ticks: number): number {
  return unit === 1 ? ticks : Math.floor(ticks / unit)
}

/** One key's state as a request found it. */
export interface Look {
  cells: Cells
  /** Where in `cells` its integers begin. */
  cell: number
  /** The instant of {@link instantOf}, in units. */
  now: number
  /** The clock's own reading, in microseconds. */
  ticks: number
  /** What `remaining` says; a charge that fitted has taken exactly its cost from it. */
  left: number
  allowed: boolean
  /** In units. */
  delay: number
}

/** The five figures, from state that already holds the charge if there was one. */
export function figuresOf(plan: Plan, look: Readonly<Look>, cost: number): Figures {
  const { algorithm, capacity } = plan
  const { cells, cell: at, now, ticks, left, allowed, delay } = look
  const remaining = Math.max(left, 0)
  const full = remaining >= capacity
  const retry = allowed ? 0 : cost > capacity ? NEVER : algorithm.wait(plan, cells, at, now, cost, left)
  const more = full ? NEVER : algorithm.wait(plan, cells, at, now, remaining + 1, left)
  const reset = full ? 0 : algorithm.wait(plan, cells, at, now, capacity, left)
  return figuresFrom(plan, now, ticks, allowed, remaining, retry, more, reset, delay)
}

/**
 * The figures in milliseconds from those in the plan's units, where infinity means never. Waits count from the
 * instant used: the clock's own microsecond, or the unit at which a late clock was held.
 */
export function figuresFrom(
  plan: Plan,
  now: number,
  nowTicks: number,
  allowed: boolean,
  remaining: number,
  retry: number,
  more: number,
  reset: number,
  delay: number,
): Figures {
  const { unit } = plan
  const since = unit === 1 ? 0 : nowTicks - now * unit
  const into = since > 0 && since < unit ? since : 0
  return {
    allowed,
    limit: plan.capacity,
    remaining,
    retryAfterMs: inMs(retry, unit, into),
    moreAfterMs: inMs(more, unit, into),
    resetAfterMs: inMs(reset, unit, into),
    delayMs: inMs(delay, unit, into) ?? 0,
    // decisionOf fills these in, in place: to copy figures costs more than to make them.
    policy: '',
    windowSeconds: undefined,
  } as Figures
}

/** @param into microseconds of the first unit that have passed */
function inMs(wait: number, unit: number, into: number): number | null {
  if (wait === 0) return 0
  return wait === NEVER ? null : (wait * unit - into) / 1_000
}

/** The instant, in units, from which this state means the same as none: it may be dropped then, and not before. */
export function droppableAt(plan: Plan, cells: Cells, at: number): number {
  const { algorithm, capacity } = plan
  if (capacity === 0) return 0
  const last = cells[at]!
  return last + algorithm.wait(plan, cells, at, last, capacity, algorithm.remaining(plan, cells, at, last))
}
