import type { Clock } from './clock.ts'
import type { Plan } from './core/decide/algorithm.ts'
import { type RuleOptions, ruleFields, ruleOf } from './core/decide/rule.ts'
import type { Step } from './core/decide/step.ts'
import { checkOptions, objectOf, oneOf, textCheck, wholeFrom } from './core/options.ts'
import type { Timers } from './flow/timers.ts'

/**
 * A clock that only moves when it is set.
 * @example
 * const clock = new FakeClock()
 * const limiter = createLimiter({ store: new MemoryStore({ clock }), policies })
 * clock.advance(1_000)
 */
export class FakeClock implements Clock {
  #now: number

  /** @param now microseconds since the epoch; default 2026-01-01T00:00:00Z. */
  constructor(now = 1_767_225_600_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** Sets the time, also backwards. @param now microseconds since the epoch */
  set(now: number): void {
    this.#now = now
  }

  /** Moves the time on, or back. @param ms milliseconds; fractions count to the microsecond */
  advance(ms: number): void {
    this.#now += Math.round(ms * 1_000)
  }
}

/**
 * Timers that go off as a FakeClock moves: one by one, in order, each followed by whatever it lets happen.
 * @example
 * const clock = new FakeClock()
 * const timers = new FakeTimers(clock)
 * const queue = createQueue(limiter, { clock, timers })
 * await timers.run(1_000)
 */
export class FakeTimers implements Timers {
  readonly #clock: FakeClock
  readonly #pending = new Map<number, { readonly at: number; readonly go: () => void }>()
  #last = 0

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  /** Timers that have not gone off. */
  get size(): number {
    return this.#pending.size
  }

  setTimeout(go: () => void, ms: number): number {
    this.#pending.set(++this.#last, { at: this.#clock.now() + ms * 1_000, go })
    return this.#last
  }

  clearTimeout(timer: number): void {
    this.#pending.delete(timer)
  }

  /** Lets so many milliseconds pass. */
  async run(ms: number): Promise<void> {
    const end = this.#clock.now() + ms * 1_000
    for (;;) {
      await quiet()
      let next: [number, { readonly at: number; readonly go: () => void }] | undefined
      for (const own of this.#pending) if (next === undefined || own[1].at < next[1].at) next = own
      if (next === undefined || next[1].at > end) break
      this.#pending.delete(next[0])
      this.#clock.set(Math.max(this.#clock.now(), next[1].at))
      next[1].go()
    }
    this.#clock.set(end)
  }
}

/** Whatever is promised already happens first. */
function quiet(): Promise<void> {
  const { setImmediate = globalThis.setTimeout } = globalThis as {
    setImmediate?: (go: () => void) => unknown
  }
  return new Promise((resolve) => void setImmediate(resolve))
}

/** What a test says of a step, and of its rule. */
export interface StepOptions extends Omit<RuleOptions, 'cost'>, Partial<Omit<Step, 'rule'>> {
  /** Of the rule. Default `p`. */
  readonly name?: string
  /** Of the rule's counters. Default: its name. */
  readonly namespace?: string
}

const OPTIONS = /* @__PURE__ */ objectOf<StepOptions>({
  ...ruleFields,
  name: textCheck,
  namespace: textCheck,
  key: textCheck,
  cost: wholeFrom(0),
  costFrom: oneOf('rule', 'measure'),
  phase: wholeFrom(0),
  chargeId: wholeFrom(0),
})

/**
 * A step for tests of stores, with a rule of its own: by default of cost 1 for the key `k`.
 * @example
 * const plan = planOf({ algorithm: 'fixed-window', limit: 10, period: '1m' })
 * await store.decide([stepFor(plan, { key: 'ada', mode: 'shadow' })], false)
 */
export function stepFor(plan: Plan, options: StepOptions = {}): Step {
  checkOptions(options, OPTIONS)
  const { name = 'p', namespace = name, key = 'k', cost = 1, costFrom, phase, chargeId, ...rule } = options
  return {
    rule: ruleOf(name, namespace, plan, rule),
    key,
    cost,
    costFrom,
    ...(phase === undefined ? undefined : { phase }),
    ...(chargeId === undefined ? undefined : { chargeId }),
  }
}
