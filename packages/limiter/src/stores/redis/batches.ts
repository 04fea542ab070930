import { admitted } from '../../core/decide/combine.ts'
import { type Figures, figuresFrom } from '../../core/decide/figures.ts'
import type { Step } from '../../core/decide/step.ts'
import { StoreError } from '../../core/errors.ts'
import type { Outcome } from '../store.ts'
import { Call } from './call.ts'
import type { Send } from './client.ts'
import type { Laws } from './laws.ts'
import type { Script } from './script.ts'
import { run } from './run.ts'
import type { StoreTime } from './store-time.ts'

/** Steps that travel in one call: more would keep others waiting for longer than the trip that they save. */
const MOST_STEPS = 64
/** Integers that answer a step. */
const FIGURES = 6
const LOST = -2
/** A second try brings windows around the store's own time; a third one would only be right by a miracle. */
const TRIES = 2

interface Written { script: Script; args: string[]; steps: number }
interface Waiting {
  readonly steps: readonly Step[]
  /** The name of each step's state. */
  readonly names: readonly string[]
  readonly peek: boolean
  tries: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/** Requests of one slot that will travel together. */
interface Batch {
  readonly requests: Waiting[]
  steps: number
}

/**
 * Decisions asked for in the same turn of the event loop travel as one call. A failure fails all that were in it:
 * what became of each is then unknown.
 */
export class Batches {
  readonly #send: Send
  readonly #laws: Laws
  readonly #time: StoreTime
  readonly #batches = new Map<number, Batch>()
  readonly #schedule: (flush: () => void) => void
  #scheduled = false

  constructor(send: Send, laws: Laws, time: StoreTime) {
    this.#send = send
    this.#laws = laws
    this.#time = time
    this.#schedule = process.env.SLUICE_SCHED === 'micro' ? queueMicrotask : process.env.SLUICE_SCHED === 'tick' ? process.nextTick : setImmediate
  }

  /** @param slot only requests of one slot can travel together; in a single server all can. */
  decide(steps: readonly Step[], names: readonly string[], peek: boolean, slot: number): Promise<Outcome> {
    return new Promise((resolve, reject) => this.#add({ steps, names, peek, tries: 0, resolve, reject }, slot))
  }

  /** Sends what waits, now. */
  flush(): void {
    this.#scheduled = false
    const batches = [...this.#batches]
    this.#batches.clear()
    for (const [slot, { requests }] of batches) void this.#ask(requests, slot)
  }

  #add(request: Waiting, slot: number): void {
    let batch = this.#batches.get(slot)
    if (batch === undefined) {
      batch = { requests: [], steps: 0 }
      this.#batches.set(slot, batch)
    }
    batch.requests.push(request)
    batch.steps += request.steps.length
    if (batch.steps >= MOST_STEPS) {
      this.#batches.delete(slot)
      void this.#ask(batch.requests, slot)
    } else if (!this.#scheduled) {
      this.#scheduled = true
      this.#schedule(() => this.flush())
    }
  }

  async #ask(requests: readonly Waiting[], slot: number): Promise<void> {
    try {
      const { script, args, steps } = this.#written(requests)
      const reply = await run(this.#send, script, args, 1 + FIGURES * steps)
      this.#time.told(reply[0]!)
      let at = 1
      for (const request of requests) {
        if (reply[at] === LOST) this.#again(request, slot)
        else request.resolve(outcomeOf(request, reply, at))
        at += FIGURES * request.steps.length
      }
    } catch (error) {
      for (const request of requests) request.reject(error)
    }
  }

  #written(requests: readonly Waiting[]): Written {
    const clock = this.#time.fixed()
    const [{ steps, names, peek }] = requests as [Waiting]
    if (requests.length === 1 && steps.length === 1) {
      const { plan, cost, role, phase = 0, lease = 0 } = steps[0]!
      const { law, words } = this.#laws.written(plan, this.#time.now())
      const args = ['1', names[0]!, clock === undefined ? '' : String(clock), peek || role === 'guard' ? '0' : '1', ...words, String(cost)]
      if (phase !== 0 || lease !== 0) args.push(String(phase), String(lease))
      return { script: this.#laws.scriptOfOne(law), args, steps: 1 }
    }
    const call = new Call(this.#laws, this.#time.now())
    const rest = written(call, requests)
    const count = requests.reduce((sum, request) => sum + request.steps.length, 0)
    return { script: call.script('decide'), args: call.args(clock, rest), steps: count }
  }

  #again(request: Waiting, slot: number): void {
    request.tries++
    if (request.tries < TRIES) this.#add(request, slot)
    else request.reject(new StoreError('no window of a calendar around the time of the store holds its time'))
  }
}

function written(call: Call, requests: readonly Waiting[]): string[] {
  const keys: number[] = []
  const parts: number[] = []
  for (const { steps, names, peek } of requests) {
    for (let i = 0; i < steps.length; i++) {
      keys.push(call.key(names[i]!))
      parts.push(call.part(steps[i]!, i, peek))
    }
  }
  const words: string[] = []
  let n = 0
  for (const { steps } of requests) {
    for (let i = 0; i < steps.length; i++, n++) {
      const { cost, phase = 0, lease = 0, plan } = steps[i]!
      const ref = keys[n]! * call.parts + parts[n]!
      words.push(String(ref * 2 + (i < steps.length - 1 ? 1 : 0)), String(cost))
      if (phase !== 0) words.push(String(phase))
      if (plan.algorithm.name === 'concurrency') words.push(String(lease))
    }
  }
  return words
}

function outcomeOf({ steps }: Waiting, reply: readonly number[], from: number): Outcome {
  const at = reply[0]!
  const figures: Figures[] = new Array(steps.length)
  for (let i = 0; i < steps.length; i++) {
    const { plan, phase = 0 } = steps[i]!
    const n = from + i * FIGURES
    const retry = reply[n + 1]!
    figures[i] = figuresFrom(
      plan,
      reply[n + 5]!,
      at - phase,
      retry === 0,
      reply[n]!,
      orNever(retry),
      orNever(reply[n + 2]!),
      orNever(reply[n + 3]!),
      orNever(reply[n + 4]!),
    )
  }
  return { allowed: admitted(steps, figures), at, figures }
}

function orNever(units: number): number {
  return units < 0 ? Number.POSITIVE_INFINITY : units
}
