import type { Plan } from '@sluice/limiter/algorithms'

/**
 * One key of one policy by the definition of its law, over everything that was ever charged: slow, and exact.
 * Instants and costs are whole; an instant is in the plan's units and never lies before an earlier charge.
 */
export interface Oracle {
  admits(now: bigint, cost: bigint): boolean
  /** Whether nothing that was charged shows any more; absent where that is when all of the capacity is there. */
  isIdle?(now: bigint): boolean
  /** Takes `cost`, whether it fits or not, up to the plan's ceiling. */
  charge(now: bigint, cost: bigint, chargeId: number): void
  /** Gives back of what was charged at `charged`, or under `chargeId`. */
  refund(now: bigint, cost: bigint, charged: bigint, chargeId: number): void
}

export interface Formula {
  oracle(plan: Plan): Oracle
  /** The most that is ever admitted between two instants so far apart, both included. */
  most(plan: Plan, interval: bigint): bigint
}

interface Numbers {
  readonly capacity: bigint
  readonly limit: bigint
  readonly period: bigint
  readonly unit: bigint
  readonly ceiling: bigint
}

function numbersOf({ capacity, limit, period, unit, ceiling }: Plan): Numbers {
  return {
    capacity: BigInt(capacity),
    limit: BigInt(limit),
    period: BigInt(period),
    unit: BigInt(unit),
    ceiling: BigInt(ceiling),
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

/** The largest whole number that is kept. */
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)

/** Most of a law that admits at most `units` in less than a period: so often for each period begun. */
const each = (units: bigint, period: bigint, interval: bigint): bigint => units * (interval / period + 1n)

/**
 * What flows: of everything charged since any instant, no more may be in use than has not flowed off since. So
 * the level is the largest, over all earlier charges, of what was charged since that one, less what flowed off.
 */
function flowing(
  { capacity, ceiling }: Numbers,
  scale: bigint,
  flowed: (from: bigint, to: bigint, first: bigint) => bigint,
  beginsWhenFull = false,
): Oracle {
  const events: { readonly at: bigint; readonly units: bigint }[] = []
  const level = (now: bigint): bigint => {
    let most = 0n
    let sum = 0n
    for (let i = events.length - 1; i >= 0; i--) {
      sum += events[i]!.units
      most = larger(most, sum - flowed(events[i]!.at, now, events[0]!.at))
    }
    return most
  }
  return {
    admits: (now, cost) => level(now) + cost * scale <= capacity * scale,
    charge(now, cost) {
      if (beginsWhenFull && level(now) === 0n) events.length = 0
      events.push({ at: now, units: least(cost * scale, ceiling * scale - level(now)) })
    },
    refund(now, cost, charged) {
      const [first, last] = [events[0], events.at(-1)]
      if (first === undefined || last === undefined || charged < first.at) return
      const left = capacity * scale - flowed(charged, larger(now, charged), first.at)
      if (left > 0n) events.push({ at: last.at, units: -least(cost * scale, left) })
    },
  }
}

/** Virtual scheduling, all of it times the limit: T becomes the period. */
function scheduled({ capacity, limit, period, ceiling }: Numbers): Oracle {
  let tat = 0n
  const ahead = (now: bigint): bigint => larger(tat, now * limit) - now * limit
  return {
    admits: (now, cost) => ahead(now) + cost * period <= capacity * period,
    charge(now, cost) {
      tat = now * limit + least(ahead(now) + cost * period, ceiling * period)
    },
    refund(now, cost, charged) {
      const left = capacity * period - larger(0n, now - charged) * limit
      if (left > 0n) tat -= least(cost * period, left)
    },
  }
}

/**
 * A queue: the level of a bucket, and for turns when all that was told to wait is over, both as scheduled times the
 * limit. A turn given back is given again only where it was the latest.
 */
function queued({ capacity, limit, period, unit, ceiling }: Numbers): Oracle {
  let [last, level, end, latest] = [0n, 0n, 0n, 0n]
  const ahead = (until: bigint, now: bigint): bigint => larger(until, now * limit) - now * limit
  const backlog = (now: bigint): bigint => {
    if (limit === 0n || latest === 0n) return ahead(level, now)
    return ahead(larger(end, (latest + period / limit - 1n) * limit), now)
  }
  return {
    admits: (now, cost) => ahead(level, now) + cost * period <= capacity * period,
    isIdle: (now) => backlog(now) === 0n,
    charge(now, cost) {
      const taken = least(cost * period, ceiling * period - ahead(level, now))
      const before = backlog(now)
      end = now * limit + before + taken
      if (taken >= period && limit > 0n) latest = least(LARGEST / unit, now + (before + limit - 1n) / limit)
      level = larger(level, now * limit) + taken
      last = now
    },
    refund(now, cost, charged) {
      const left = capacity * period - larger(0n, now - charged) * limit
      if (left <= 0n) return
      const given = least(cost * period, left)
      const [from, turn] = [last * limit, charged * limit]
      end = from + backlog(last)
      const oneUnit = turn + larger(0n, period - limit)
      const isWhole = end - given <= oneUnit
      if (charged === latest || (isWhole && end > oneUnit)) {
        end = larger(larger(end - given, turn - limit), from)
        if (isWhole && limit > 0n) latest = least(LARGEST / unit, larger(0n, charged - period / limit))
      }
      const most = ceiling * period
      const lost = limit === 0n ? 0n : end - least(most, LARGEST - most)
      level = least(level, larger(larger(level - given, from), lost))
      end = larger(end, level)
    },
  }
}

/** What is counted by the window, a window at a time. */
function countedByWindow(
  { capacity, period, ceiling }: Numbers,
  used: (count: (back: bigint) => bigint, elapsed: bigint) => bigint,
): Oracle {
  const counts = new Map<bigint, bigint>()
  const countAt = (window: bigint): bigint => counts.get(window) ?? 0n
  return {
    admits: (now, cost) => used((back) => countAt(now / period - back), now % period) + cost <= capacity,
    charge(now, cost) {
      const window = now / period
      counts.set(window, least(countAt(window) + cost, larger(ceiling, countAt(window))))
    },
    refund(_now, cost, charged) {
      const window = charged / period
      counts.set(window, larger(0n, countAt(window) - cost))
    },
  }
}

/** Whatever was charged counts for one period. `named`: it is given back by its charge id, else by its instant. */
function lasting({ capacity, period, ceiling }: Numbers, named: boolean): Oracle {
  const entries: { readonly at: bigint; readonly chargeId: number; units: bigint }[] = []
  const used = (now: bigint): bigint =>
    entries.reduce((sum, { at, units }) => (at > now - period ? sum + units : sum), 0n)
  return {
    admits: (now, cost) => used(now) + cost <= capacity,
    charge(now, cost, chargeId) {
      entries.push({ at: now, chargeId, units: least(cost, larger(0n, ceiling - used(now))) })
    },
    refund(_now, cost, charged, chargeId) {
      let left = cost
      for (let i = entries.length - 1; i >= 0; i--) {
        const entry = entries[i]!
        if (named ? entry.chargeId !== chargeId : entry.at !== charged) continue
        const given = least(left, entry.units)
        entry.units -= given
        left -= given
      }
    },
  }
}

/** Token bucket and leaky bucket: full, and draining steadily. */
export const bucketFormula: Formula = {
  oracle(plan) {
    const numbers = numbersOf(plan)
    if (plan.algorithm.traits.queues) return queued(numbers)
    return flowing(numbers, numbers.period, (from, to) => (to - from) * numbers.limit)
  },
  most: ({ capacity, limit, period }, interval) =>
    BigInt(capacity) + (interval * BigInt(limit)) / BigInt(period),
}

export const gcraFormula: Formula = { oracle: (plan) => scheduled(numbersOf(plan)), most: bucketFormula.most }

/** A bucket refilled at whole periods from the charge that found it full. */
export const intervalFormula: Formula = {
  oracle(plan) {
    const numbers = numbersOf(plan)
    const { limit, period } = numbers
    return flowing(
      numbers,
      1n,
      (from, to, first) => ((to - first) / period - (from - first) / period) * limit,
      true,
    )
  },
  most: ({ capacity, limit, period }, interval) =>
    BigInt(capacity) + each(BigInt(limit), BigInt(period), interval),
}

export const fixedWindowFormula: Formula = {
  oracle: (plan) => countedByWindow(numbersOf(plan), (count) => count(0n)),
  most: ({ limit, period }, interval) => BigInt(limit) + each(BigInt(limit), BigInt(period), interval),
}

export const slidingLogFormula: Formula = {
  oracle: (plan) => lasting(numbersOf(plan), false),
  most: ({ limit, period }, interval) => each(BigInt(limit), BigInt(period), interval),
}

export const concurrencyFormula: Formula = {
  oracle: (plan) => lasting(numbersOf(plan), true),
  most: slidingLogFormula.most,
}

/**
 * The window before weighs as much as the trailing period still overlaps it.
 * @param rounding of that weight, to whole units
 * @example
 * const policies = policiesOf('sliding-window-counter', { rounding: 'up' })
 * algorithmSuite({ describe, it }, { name: 'rounding up', policies, formula: slidingCounterFormula('up') })
 */
export function slidingCounterFormula(rounding: 'down' | 'up'): Formula {
  return {
    oracle(plan) {
      const numbers = numbersOf(plan)
      const { period, ceiling } = numbers
      return countedByWindow(numbers, (count, elapsed) => {
        const weight = least(count(1n), ceiling) * (period - elapsed)
        return (rounding === 'up' ? (weight + period - 1n) / period : weight / period) + count(0n)
      })
    },
    most({ limit, period }, interval) {
      const inOne = BigInt(limit) * 2n - (rounding === 'up' && limit > 0 ? 1n : 0n)
      return each(inOne, BigInt(period), interval)
    },
  }
}

/**
 * The definition of a plan's algorithm, where it is one of those that are built in.
 * @throws TypeError where it is not
 * @example
 * const plan = planOf({ algorithm: 'gcra', limit: 10, period: '1s' })
 * formulaOf(plan).most(plan, 1_000_000n) // 20n
 */
export function formulaOf({ kind }: Plan): Formula {
  const [name = ''] = kind.split('/')
  const formula = FORMULAS[name]
  if (formula === undefined) throw new TypeError(`there is no formula for ${JSON.stringify(name)}`)
  return formula
}

const FORMULAS: Readonly<Record<string, Formula>> = {
  'token-bucket': bucketFormula,
  'token-bucket-interval': intervalFormula,
  'leaky-bucket': bucketFormula,
  gcra: gcraFormula,
  'fixed-window': fixedWindowFormula,
  'sliding-window-log': slidingLogFormula,
  'sliding-window-counter': slidingCounterFormula('down'),
  concurrency: concurrencyFormula,
}
