import type { Policy } from '@sluice/limiter'
import { type Cells, type Figures, type Plan, planOf } from '@sluice/limiter/algorithms'
import type { Formula, Oracle } from './formulas.ts'
import { type StateUnderTest, stateUnderTest } from './subject.ts'

const LARGEST = Number.MAX_SAFE_INTEGER
const TEN_YEARS = 315_576_000_000_000
const TODAY = 1_750_000_000_000_000
/** In any unit, an instant of 0 means never. */
const EARLIEST = 1_000_000
/** Later than any wait. */
const FAR = 2n ** 80n

export interface WalkOptions {
  /** Also takes more and gives back, afterwards. */
  readonly corrects: boolean
  /** Forgets the state whenever it may be; the clock then never steps back. */
  readonly drops: boolean
}

/**
 * Leads one key through time, requests and corrections as the dice fall, and compares every answer to the five laws
 * and to its definition. Throws an error that shows the whole walk.
 */
export function walk(policy: Policy, formula: Formula, dice: readonly number[], options: WalkOptions): void {
  const plan = planOf(policy)
  const walker = new Walker(plan, formula, options)
  try {
    walker.start(dice[0] ?? 0)
    for (const die of dice) walker.step(die)
    walker.checkIntervals()
  } catch (cause) {
    const details = [`${JSON.stringify(policy)}, in units of ${plan.unit} µs`, ...walker.trace].join('\n  ')
    throw new Error(`${(cause as Error).message}\n  ${details}`, { cause })
  }
}

class Walker {
  readonly trace: string[] = []
  readonly #plan: Plan
  readonly #formula: Formula
  readonly #options: WalkOptions
  readonly #state: StateUnderTest
  readonly #oracle: Oracle
  /** The clock, in microseconds. */
  #ticks = 0
  /** Last admission, in microseconds. */
  #last = 0
  #figures: Figures | undefined
  /** What remained at the last look. */
  #seen = { at: 0n, remaining: 0 }
  readonly #admitted: { readonly at: bigint; readonly cost: bigint }[] = []
  readonly #charges: { readonly ticks: number; readonly cost: number; readonly chargeId: number }[] = []

  constructor(plan: Plan, formula: Formula, options: WalkOptions) {
    this.#plan = plan
    this.#formula = formula
    this.#options = options
    this.#state = stateUnderTest(plan)
    this.#oracle = formula.oracle(plan)
  }

  start(die: number): void {
    this.#ticks = die % 8 === 0 ? EARLIEST : TODAY + (die % 1_000_003)
  }

  /** A die holds a move through time, an act, and a share for whichever of them needs one. */
  step(die: number): void {
    const [move, act, share] = [die % 16, (die >>> 4) % 16, (die >>> 8) / 2 ** 24]
    this.#moveTo(this.#target(move, share))
    if (this.#options.drops) this.#state.drop(this.#ticks)
    if (this.#options.corrects && act % 3 === 0 && this.#charges.length > 0) this.#correct(act, share)
    else this.#ask(this.#cost(act, share))
  }

  /** All that was admitted, between any two admissions. */
  checkIntervals(): void {
    if (this.#options.corrects) return
    for (const [i, { at: from }] of this.#admitted.entries()) {
      let sum = 0n
      for (const { at, cost } of this.#admitted.slice(i)) {
        sum += cost
        const most = this.#formula.most(this.#plan, at - from)
        hold(sum <= most, `${sum} were admitted within ${at - from} units, where ${most} may be`)
      }
    }
  }

  #target(move: number, share: number): number {
    const { period, unit } = this.#plan
    const whole = period * unit
    const after = (ms: number | null | undefined): number => this.#base() + Math.round((ms ?? 0) * 1_000)
    switch (move) {
      case 3:
        return this.#ticks + 1
      case 4:
        return this.#ticks + Math.floor(share * 3 * unit)
      case 5:
        return after(this.#figures?.retryAfterMs) - 1
      case 6:
        return after(this.#figures?.retryAfterMs)
      case 7:
        return after(this.#figures?.moreAfterMs) - 1
      case 8:
        return after(this.#figures?.moreAfterMs)
      case 9:
        return after(this.#figures?.resetAfterMs) - 1
      case 10:
        return after(this.#figures?.resetAfterMs)
      case 11:
        return this.#ticks - (this.#ticks % whole) + whole
      case 12:
        return this.#ticks + Math.floor(share * whole)
      case 13:
        return this.#ticks + Math.floor(share * 2.5 * whole)
      case 14:
        return this.#ticks + TEN_YEARS
      case 15:
        return this.#ticks - Math.floor(share * 2 * whole)
      default:
        return this.#ticks
    }
  }

  #moveTo(ticks: number): void {
    const back = ticks < this.#ticks && this.#options.drops
    if (ticks >= EARLIEST && ticks <= LARGEST && !back) this.#ticks = ticks
  }

  #cost(act: number, share: number): number {
    const { capacity } = this.#plan
    const remaining = this.#figures?.remaining ?? capacity
    const costs = [0, 1, 1, 1, 2, remaining, remaining, remaining + 1, capacity, capacity + 1, LARGEST]
    return Math.min(LARGEST, costs[act] ?? Math.floor(share * (act % 2 === 0 ? capacity : remaining)))
  }

  #ask(cost: number): void {
    const chargeId = this.#charges.length + 1
    const now = this.#now()
    const fits = cost === 0 || this.#oracle.admits(now, BigInt(cost))
    const charged = fits && cost > 0
    const before = this.#state.cells.slice()
    const figures = this.#state.decide(this.#ticks, cost, chargeId)
    this.trace.push(`at ${this.#ticks} cost ${cost}: ${JSON.stringify(figures)}`)
    hold(figures.allowed === fits, `the definition ${fits ? 'admits' : 'refuses'} a cost of ${cost}`)
    this.#checkDelay(figures.delayMs, charged)
    if (charged) {
      this.#charged(cost, chargeId, now, figures.delayMs)
      this.#admitted.push({ at: now, cost: BigInt(cost) })
    } else hold(same(this.#state.cells, before), 'a request that takes nothing changed the state')
    this.#checkFigures(figures, cost)
    this.#checkOrder(now, figures.remaining, charged ? cost : 0)
    this.#checkState(now)
    this.#figures = figures
  }

  #correct(act: number, share: number): void {
    const { ticks, cost, chargeId } = this.#charges[Math.floor(share * this.#charges.length)]!
    const amount = Math.min(LARGEST, Math.max(1, Math.floor((((act * 7) % 16) / 8) * cost)))
    const change = act % 2 === 0 ? -amount : amount
    const now = this.#now()
    this.trace.push(`at ${this.#ticks} settles ${change} of the charge at ${ticks}, charge id ${chargeId}`)
    this.#state.settle(this.#ticks, change, ticks, chargeId)
    if (change > 0) this.#charged(change, chargeId, now)
    else {
      const charged = BigInt(Math.floor(ticks / this.#plan.unit))
      this.#oracle.refund(now, BigInt(amount), charged, chargeId)
    }
    this.#ask(0)
  }

  /** @param delayMs what queues is charged at its turn */
  #charged(cost: number, chargeId: number, now: bigint, delayMs = 0): void {
    hold(this.#base() >= this.#last, 'time went back')
    this.#last = this.#base()
    this.#oracle.charge(now, BigInt(cost), chargeId)
    this.#charges.push({ ticks: this.#base() + Math.round(delayMs * 1_000), cost, chargeId })
  }

  /** A queue tells how long its predecessors need to drain, before the request joins them; others tell nothing. */
  #checkDelay(delayMs: number, charged: boolean): void {
    const { algorithm, limit } = this.#plan
    const empty = algorithm.delay === undefined || !charged || this.#isIdle(this.#now())
    if (empty) hold(delayMs === 0, 'there is nothing to wait for')
    else if (limit > 0) this.#checkWait('delay', delayMs, (at) => this.#isIdle(at))
  }

  #isIdle(now: bigint): boolean {
    return this.#oracle.isIdle?.(now) ?? this.#oracle.admits(now, BigInt(this.#plan.capacity))
  }

  /** Left to itself a quota only grows; a charge takes what it costs. */
  #checkOrder(now: bigint, remaining: number, taken: number): void {
    const grown = now < this.#seen.at || remaining + taken >= this.#seen.remaining
    hold(this.#options.corrects || grown, 'remaining has shrunk by more than the cost')
    this.#seen = { at: now, remaining }
  }

  #checkFigures(figures: Figures, cost: number): void {
    const { capacity } = this.#plan
    const { allowed, limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs } = figures
    const now = this.#now()
    hold(limit === capacity, 'the limit is not the capacity')
    hold(remaining === 0 || this.#oracle.admits(now, BigInt(remaining)), 'remaining is too large')
    hold(!this.#oracle.admits(now, BigInt(remaining) + 1n), 'remaining is too small')
    if (allowed) hold(retryAfterMs === 0, 'an admitted request need not wait')
    else this.#checkWait('retry', retryAfterMs, (at) => this.#oracle.admits(at, BigInt(cost)))
    if (remaining >= capacity) hold(moreAfterMs === null && resetAfterMs === 0, 'a full quota needs no wait')
    else {
      this.#checkWait('more', moreAfterMs, (at) => this.#oracle.admits(at, BigInt(remaining) + 1n))
      this.#checkWait('reset', resetAfterMs, (at) => this.#oracle.admits(at, BigInt(capacity)))
    }
  }

  /** Admitted when the wait is over, refused one tick before. Beyond 2^50 µs milliseconds no longer hold every tick. */
  #checkWait(name: string, ms: number | null, admitsAt: (now: bigint) => boolean): void {
    const admits = (ticks: bigint): boolean => admitsAt(this.#unitsOf(ticks))
    if (ms === null) {
      hold(!admits(FAR), `${name} is never, but there is an end to the wait`)
      return
    }
    const wait = BigInt(Math.round(ms * 1_000))
    const slack = wait >> 50n
    const over = BigInt(this.#base()) + wait
    hold(wait > 0n, `${name} must be a wait`)
    hold(admits(over + slack), `${name} is too early`)
    hold(!admits(over - 1n - slack), `${name} is too late`)
  }

  /** Whole numbers below 2^53, that mean something until they may be dropped, and no longer. */
  #checkState(now: bigint): void {
    for (const cell of this.#state.cells) hold(Number.isSafeInteger(cell), `${cell} is kept`)
    const due = this.#state.droppableAt()
    if (due === undefined || due > LARGEST) return
    const dueUnits = this.#unitsOf(BigInt(due))
    if (dueUnits <= now) hold(this.#isIdle(now), `the state was dropped at ${due}, too early`)
    else {
      hold(this.#isIdle(dueUnits), `the state is dropped at ${due}, too early`)
      hold(!this.#isIdle(dueUnits - 1n), `the state is dropped at ${due}, too late`)
    }
  }

  /** The instant that counts: a clock that stepped back is held at the last admission. */
  #now(): bigint {
    return this.#unitsOf(BigInt(this.#base()))
  }

  #unitsOf(ticks: bigint): bigint {
    return ticks / BigInt(this.#plan.unit)
  }

  /** The instant that counts, in microseconds. */
  #base(): number {
    return Math.max(this.#ticks, this.#last)
  }
}

function same(a: Cells, b: Cells): boolean {
  return a.length === b.length && a.every((cell, i) => cell === b[i])
}

function hold(is: boolean, message: string): void {
  if (!is) throw new Error(message)
}
