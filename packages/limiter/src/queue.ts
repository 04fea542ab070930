import { type Clock, clockCheck } from './clock.ts'
import { type Decision, receiptOf } from './core/decide/decision.ts'
import { holdsSlots, type Step } from './core/decide/step.ts'
import { ConfigError, StoreError } from './core/errors.ts'
import { type CallFields, checkCall, checkOptions, having, objectOf, wholeFrom } from './core/options.ts'
import type { Timers } from './flow/timers.ts'
import { TurnQueue } from './flow/turn-queue.ts'
import { checkedPriority, QueueFull, type TurnRefusal, Waiter } from './flow/waiter.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import type { CostOption, Limiter } from './limiter-of.ts'
import type { KeyOf } from './limiter-policy.ts'

export { QueueFull }

export interface QueueOptions {
  /** Measures `maxWaitMs`. Default: the process's monotonic clock. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly timers?: Timers
  /** Most callers that wait at once; whoever comes then is refused with QueueFull. Default 100,000. */
  readonly maxWaiting?: number
}

const OPTIONS = /* @__PURE__ */ objectOf<QueueOptions>({
  clock: clockCheck,
  timers: having('timers', 'setTimeout', 'clearTimeout'),
  maxWaiting: wholeFrom(0),
})
/** What calls take; the values are checked where they are used. */
const WAIT: CallFields = new Map([
  ['cost', ''],
  ['signal', 'object'],
  ['maxWaitMs', 'number'],
  ['priority', 'number'],
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
  /** How urgent it is, as RFC 9218 counts: a whole number from 0, which comes first, to 7. Default 3. */
  readonly priority?: number
}

export interface WrapOptions<Name extends string, Field extends string, Args extends readonly unknown[]>
  extends Omit<WaitOptions<Name>, 'cost'> {
  /** The key, or a function of the arguments that gives it. */
  readonly key: KeyOf<Field> | ((...args: Args) => KeyOf<Field>)
  /** The same for the cost. */
  readonly cost?: CostOption<Name>['cost'] | ((...args: Args) => CostOption<Name>['cost'])
}

/** Requests that wait for a limiter: for each key by priority, and inside one first come, first served. */
export interface Queue<Name extends string = string, Field extends string = never> {
  /**
   * Resolves when the cost is admitted and, where an algorithm delays it, its turn has come.
   * @throws LimitExceeded (rejects) when no wait helps, or the wait would be longer than `maxWaitMs`; the signal's
   *   reason when it aborts; QueueFull when `maxWaiting` others wait, or after `drain`
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
  /** From now on no others are taken. Resolves when all who wait have had their turn, and scheduled jobs have ended. */
  drain(): Promise<void>
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
  const { match, engine, name } = limiter as unknown as Limiter<string, boolean, string>
  const turns = new TurnQueue(
    {
      ask: ({ steps }) => engine.decide(name, steps, false),
      look: (steps) => engine.decide(name, steps, true),
      giveBack: (decision) => engine.refund(name, decision),
    },
    { clock: options.clock, timers: options.timers, most: options.maxWaiting ?? 100_000 },
  )
  const jobs = new Set<Promise<unknown>>()
  const queue: Queue<string, string> = {
    wait: (key, given = {}) =>
      new Promise((resolve, reject) => {
        checkCall(given, WAIT)
        const { cost, signal, maxWaitMs = Number.POSITIVE_INFINITY, priority } = given
        if (!(maxWaitMs >= 0)) throw new TypeError('maxWaitMs must be milliseconds, 0 or more')
        const steps = match(key, cost === undefined ? undefined : { cost })
        const until = turns.now() + maxWaitMs
        turns.enter(new QueuedCall(turns, steps, checkedPriority(priority), until, signal, resolve, reject))
      }),
    async schedule(key, job, given = {}) {
      checkJob(job)
      const decision = await queue.wait(key, given)
      const running = Promise.resolve(decision).then(job)
      jobs.add(running)
      try {
        return await running
      } finally {
        jobs.delete(running)
        await release(decision)
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
    async drain() {
      await turns.drain()
      await Promise.resolve() // those who were served last begin
      while (jobs.size > 0) await Promise.allSettled(jobs)
    },
  }
  /** Releases the slots of a decision, and lets those look who may wait for them. */
  const release = async (decision: Decision): Promise<void> => {
    const steps = receiptOf(decision)!.steps.filter(holdsSlots)
    if (steps.length === 0) return
    try {
      await engine.refund(name, decision, 0)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error // the job is done; its slots end by their time to live
    }
    turns.openSteps(steps)
  }
  return queue as unknown as Queue<Name, Field>
}

class QueuedCall extends Waiter {
  readonly turns: TurnQueue
  readonly flow: string
  readonly served: (decision: Decision) => void
  readonly failed: (error: unknown) => void

  constructor(
    turns: TurnQueue,
    steps: readonly Step[],
    priority: number,
    until: number,
    signal: AbortSignal | undefined,
    served: (decision: Decision) => void,
    failed: (error: unknown) => void,
  ) {
    super(steps, priority, until, signal)
    this.turns = turns
    this.flow = flowOf(steps)
    this.served = served
    this.failed = failed
  }

  refused(why: TurnRefusal, decision: Decision | undefined, waitMs: number | null): void {
    if (why === 'full' || decision === undefined) this.failed(new QueueFull(why, waitMs))
    else this.failed(new LimitExceeded(decision, waitMs))
  }
}

/** Keys that share a counter get it in turns. */
function flowOf(steps: readonly Step[]): string {
  return steps.length === 1 ? '' : JSON.stringify(steps.map(({ key }) => key))
}

function checkJob(job: unknown): void {
  if (typeof job !== 'function')
    throw new TypeError('job must be a function, which is called when its turn comes')
}
