import { type Clock, clockCheck, monotonicClock } from './clock.ts'
import { type CostByName, checkedCost } from './core/decide/cost.ts'
import { type Decision, type PolicyFigures, receiptOf } from './core/decide/decision.ts'
import { holdsSlots } from './core/decide/step.ts'
import { ConfigError, StoreError } from './core/errors.ts'
import { type CallFields, checkCall, checkOptions, having, objectOf } from './core/options.ts'
import { type Pause, type PauseEnd, startPause } from './flow/pause.ts'
import type { Timers } from './flow/timers.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import type { CostOption, Limiter } from './limiter-of.ts'
import type { KeyOf } from './limiter-policy.ts'

/** Slots that others release are noticed after so many milliseconds at most: nobody tells. */
const LOOK_AGAIN_MS = 1_000

export interface QueueOptions {
  /** Measures `maxWaitMs`. Default: the process's monotonic clock. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly timers?: Timers
}

const OPTIONS = /* @__PURE__ */ objectOf<QueueOptions>({
  clock: clockCheck,
  timers: having('timers', 'setTimeout', 'clearTimeout'),
})
/** What calls take; the values are checked where they are used. */
const WAIT: CallFields = new Map([
  ['cost', ''],
  ['signal', 'object'],
  ['maxWaitMs', 'number'],
])
const WRAP: CallFields = new Map([...WAIT, ['key', '']])

export interface WaitOptions<Name extends string = string> extends CostOption<Name> {
  /** Gives up the place, and gives back what was charged. */
  readonly signal?: AbortSignal
  /**
   * Milliseconds, 0 or more: the longest wait that is accepted. Where more is known to be needed, the wait is refused
   * at once. Default: any.
   */
  readonly maxWaitMs?: number
}

export interface WrapOptions<Name extends string, Field extends string, Args extends readonly unknown[]>
  extends Omit<WaitOptions<Name>, 'cost'> {
  /** The key, or a function of the arguments that gives it. */
  readonly key: KeyOf<Field> | ((...args: Args) => KeyOf<Field>)
  /** The same for the cost. */
  readonly cost?: CostOption<Name>['cost'] | ((...args: Args) => CostOption<Name>['cost'])
}

/** Requests that wait for a limiter, first come, first served for each key. */
export interface Queue<Name extends string = string, Field extends string = never> {
  /**
   * Resolves when the cost is admitted and, where an algorithm delays it, its turn has come.
   * @throws LimitExceeded (rejects) when no wait helps, or the wait would be longer than `maxWaitMs`; the signal's
   *   reason when it aborts
   */
  wait(key: KeyOf<Field>, options?: WaitOptions<Name>): Promise<Decision<Name>>
  /** Waits, runs `job`, and releases the slots of `concurrency` policies, however it ends. All else stays charged. */
  schedule<T>(
    key: KeyOf<Field>,
    job: (decision: Decision<Name>) => T | PromiseLike<T>,
    options?: WaitOptions<Name>,
  ): Promise<T>
  /** The same function, whose calls are scheduled. */
  wrap<Args extends readonly unknown[], T>(
    job: (...args: Args) => T | PromiseLike<T>,
    options: WrapOptions<Name, Field, Args>,
  ): (...args: Args) => Promise<T>
}

/**
 * Lets callers wait for a limiter. Those of one key wait in this queue, in order; another process has a queue of its
 * own, and which of the two is next is left to chance.
 * @example
 * const queue = createQueue(limiter)
 * await queue.wait('ada', { cost: 3, maxWaitMs: 10_000 })
 * const answer = await queue.schedule('ada', () => fetch('https://api.example.com'))
 */
export function createQueue<Name extends string, Async extends boolean, Field extends string = never>(
  limiter: Limiter<Name, Async, Field>,
  options: QueueOptions = {},
): Queue<Name, Field> {
  if (typeof limiter?.check !== 'function' || typeof limiter.policies !== 'object') {
    throw new ConfigError('give the limiter to wait for: createQueue(createLimiter({ policies: … }))', {
      path: ['limiter'],
    })
  }
  checkOptions(options, OPTIONS)
  const lines = new Lines(limiter as QueuedLimiter, options)
  const queue: Queue<string, string> = {
    wait: (key, options = {}) => lines.wait(key, options),
    async schedule(key, job, options = {}) {
      checkJob(job)
      const decision = await lines.wait(key, options)
      try {
        return await job(decision)
      } finally {
        if (receiptOf(decision)?.steps.some(holdsSlots)) await lines.release(key, decision)
      }
    },
    wrap(job, given) {
      checkJob(job)
      checkCall(given, WRAP, [], ['key'])
      const { key, cost, ...options } = given
      return (...args) => {
        const own = typeof cost === 'function' ? cost(...args) : cost
        return queue.schedule(typeof key === 'function' ? key(...args) : key, () => job(...args), {
          ...options,
          ...(own === undefined ? undefined : { cost: own }),
        })
      }
    },
  }
  return queue as Queue<Name, Field>
}

type QueuedLimiter = Limiter<string, boolean, string>
type AnyKey = KeyOf<string>

/** One who waits. */
interface Waiter {
  readonly costs: readonly number[]
  pause?: Pause | undefined
}

/** All who wait with one key; the first asks the limiter, the others wait for their turn. */
interface Line {
  readonly places: Waiter[]
  /** What the first was last told; absent while none had to wait. */
  refused?: Decision
  /** When the last of them has been told how long it would take. */
  looked?: Promise<void>
}

class Lines {
  readonly #limiter: QueuedLimiter
  readonly #names: readonly string[]
  readonly #clock: Clock
  readonly #timers: Timers | undefined
  readonly #lines = new Map<string, Line>()

  constructor(limiter: QueuedLimiter, { clock = monotonicClock(), timers }: QueueOptions) {
    this.#limiter = limiter
    this.#names = Object.keys(limiter.policies)
    this.#clock = clock
    this.#timers = timers
  }

  async wait(key: AnyKey, options: WaitOptions): Promise<Decision> {
    checkCall(options, WAIT)
    const { signal, maxWaitMs = Number.POSITIVE_INFINITY } = options
    if (!(maxWaitMs >= 0)) throw new TypeError('maxWaitMs must be milliseconds, 0 or more')
    signal?.throwIfAborted()
    const since = this.#clock.now()
    const leftMs = (): number => maxWaitMs - (this.#clock.now() - since) / 1_000
    const { line, place, leave } = this.#join(key, options.cost)
    let decision: Decision
    try {
      if (line.places[0] !== place) await this.#turn(key, line, place, leftMs, signal)
      decision = await this.#admitted(key, line, place, options, leftMs)
    } finally {
      leave() // the next one may ask while this one is delayed
    }
    const { delayMs } = decision
    const late = delayMs > Math.max(0, leftMs())
    const left = !late && delayMs > 0 && (await this.#pause(place, delayMs, signal)) === 'left'
    if (!(late || left || signal?.aborted)) return decision
    await this.#limiter.refund(decision)
    signal?.throwIfAborted()
    throw new LimitExceeded(decision, delayMs)
  }

  /** Releases the slots of a decision, and lets those look who may wait for them. */
  async release(key: AnyKey, decision: Decision): Promise<void> {
    try {
      await this.#limiter.refund(decision, 0)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error // the job is done; its slots end by their time to live
    }
    const own =
      typeof key === 'string' || Array.isArray(key) ? [this.#lines.get(textOf(key))] : this.#lines.values()
    for (const line of own) line?.places[0]?.pause?.wake()
  }

  #join(key: AnyKey, cost: WaitOptions['cost']): { line: Line; place: Waiter; leave: () => void } {
    const text = textOf(key)
    const line = this.#lines.get(text) ?? { places: [] }
    const place: Waiter = { costs: costsOf(this.#names, cost) }
    line.places.push(place)
    this.#lines.set(text, line)
    const leave = (): void => {
      const first = line.places[0] === place
      if (line.places.includes(place)) line.places.splice(line.places.indexOf(place), 1)
      if (line.places.length === 0) this.#lines.delete(text)
      else if (first) line.places[0]!.pause?.wake()
    }
    return { line, place, leave }
  }

  /** Waits until all who were before have gone. */
  async #turn(
    key: AnyKey,
    line: Line,
    place: Waiter,
    leftMs: () => number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let foreseen = false
    while (line.places[0] !== place) {
      // While nobody was refused, those before are only being asked for.
      const bounded = line.refused !== undefined && leftMs() < Number.POSITIVE_INFINITY
      if (bounded && !foreseen) {
        foreseen = true
        const foresee = async (): Promise<void> => {
          if (line.places.indexOf(place) <= 0) return
          const waitMs = await this.#foreseenMs(key, line, place)
          if (waitMs <= leftMs()) return
          line.places.splice(line.places.indexOf(place), 1)
          throw new LimitExceeded(line.refused!, waitMs)
        }
        // One after the other: those who go are not waited for.
        const looked = line.looked === undefined ? foresee() : line.looked.then(foresee)
        line.looked = looked.catch(() => undefined)
        await looked
        continue
      }
      const end = await this.#pause(place, bounded ? Math.max(0, leftMs()) : undefined, signal)
      if (end === 'left') signal!.throwIfAborted()
      if (end === 'over') throw new LimitExceeded(line.refused!)
    }
  }

  /** The first in line asks until it is admitted. */
  async #admitted(
    key: AnyKey,
    line: Line,
    place: Waiter,
    { cost, signal }: WaitOptions,
    leftMs: () => number,
  ): Promise<Decision> {
    for (;;) {
      signal?.throwIfAborted()
      const decision = await this.#limiter.check(key, cost === undefined ? undefined : { cost })
      if (decision.allowed) return decision
      const before = line.refused
      line.refused = decision
      if (before === undefined) for (const other of line.places.slice(1)) other.pause?.wake()
      const waitMs = this.#waitMs(decision, leftMs())
      if (waitMs === null) throw new LimitExceeded(decision)
      if ((await this.#pause(place, waitMs, signal)) === 'left') signal!.throwIfAborted()
    }
  }

  /** When to ask again; `null`: not at all, also where the store does not answer. A slot can be released before its time is over. */
  #waitMs({ retryAfterMs, policies }: Decision, leftMs: number): number | null {
    if (retryAfterMs === null || retryAfterMs === 0) return null
    const firm = policies.filter((own) => !own.shadow && !own.allowed && !isHeld(own))
    const firmMs = Math.max(0, ...firm.map((own) => own.retryAfterMs ?? Number.POSITIVE_INFINITY))
    if (firmMs > leftMs || leftMs <= 0) return null
    return firmMs < retryAfterMs
      ? Math.min(Math.max(firmMs, LOOK_AGAIN_MS), retryAfterMs, leftMs)
      : retryAfterMs
  }

  /**
   * How long a place takes at least: all who are before it come first. What is above a policy's capacity needs as many
   * whole windows (for buckets: fills) as it fills.
   */
  async #foreseenMs(key: AnyKey, line: Line, place: Waiter): Promise<number> {
    const before = line.places.slice(0, line.places.indexOf(place) + 1)
    const needs = line.refused!.policies.map((own, i) => {
      if (own.shadow || isHeld(own) || own.limit === 0) return { units: 0, windows: 0 }
      const sum = before.reduce((sum, { costs }) => sum + costs[i]!, 0)
      const windows = Math.max(0, Math.ceil(sum / own.limit) - 1)
      return { units: sum - windows * own.limit, windows }
    })
    const cost = Object.fromEntries(this.#names.map((name, i) => [name, needs[i]!.units]))
    const { policies } = await this.#limiter.peek(key, { cost })
    const waits = policies.map(({ allowed, retryAfterMs, resetAfterMs, windowSeconds = 0 }, i) => {
      const { units, windows } = needs[i]!
      if (units === 0) return 0
      const windowMs = windowSeconds * 1_000
      if (!allowed) return (retryAfterMs ?? 0) + windows * windowMs
      return windows === 0 ? 0 : (resetAfterMs ?? 0) + (windows - 1) * windowMs
    })
    return Math.max(...waits)
  }

  async #pause(place: Waiter, ms: number | undefined, signal: AbortSignal | undefined): Promise<PauseEnd> {
    place.pause = startPause(ms, signal, this.#timers && { timers: this.#timers })
    try {
      return await place.pause.ended
    } finally {
      place.pause = undefined
    }
  }
}

function checkJob(job: unknown): void {
  if (typeof job !== 'function')
    throw new TypeError('job must be a function, which is called when its turn comes')
}

/** Slots have no window: they end when they are released. */
function isHeld({ windowSeconds }: PolicyFigures): boolean {
  return windowSeconds === undefined
}

function costsOf(names: readonly string[], cost: number | CostByName = 1): number[] {
  if (typeof cost !== 'object' || cost === null) return names.map(() => checkedCost(cost))
  return names.map((name) => checkedCost(cost[name] ?? 1))
}

/** One text for each key, whatever the order of its fields. What is no key fails where the limiter reads it. */
function textOf(key: AnyKey): string {
  return JSON.stringify(
    typeof key === 'string' || Array.isArray(key) ? key : Object.entries(key ?? {}).sort(),
  )
}
