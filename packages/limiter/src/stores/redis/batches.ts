import { admitted } from '../../core/decide/combine.ts'
import { chargeInstant, type Figures, figuresFrom, inUnits, underBlock } from '../../core/decide/figures.ts'
import { newSlot } from '../../core/decide/run.ts'
import { StoreError } from '../../core/errors.ts'
import type { Outcome, Step } from '../store.ts'
import { callToDecide, type StepsRequest } from './call.ts'
import type { LuaPrograms } from './lua-programs.ts'
import type { StateNames } from './names.ts'
import { NO_WINDOW, noWindowError, type ScriptRunner, TRIES } from './runner.ts'
import type { StoreTime } from './store-time.ts'

/** Steps in a call, unless one request has more: it must not keep others waiting for much longer than a trip. */
const MOST_STEPS_OF_CALL = 32
/** Calls after which it is forgotten how much was asked at once before them. */
const MEMORY = 16
/** Integers that answer a step. */
const FIGURES_PER_STEP = 6

interface WaitingRequest extends StepsRequest {
  tries: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

interface Batch {
  readonly requests: WaitingRequest[]
  steps: number
}

/**
 * Decisions asked for in one turn of the event loop travel as one call, or a few; what comes alone leaves at once.
 * What fails fails for all in its call: what became of each is then unknown.
 */
export class Batches {
  readonly #runner: ScriptRunner
  readonly #programs: LuaPrograms
  readonly #time: StoreTime
  readonly #batches = new Map<number, Batch>()
  readonly #waiters: (() => void)[] = []
  #scheduled = false
  #calls = 0
  /** Steps that are not answered yet, and the most there were at once of late. */
  #unanswered = 0
  #peak = 0
  #peakBefore = 0

  constructor(runner: ScriptRunner, programs: LuaPrograms, time: StoreTime) {
    this.#runner = runner
    this.#programs = programs
    this.#time = time
  }

  /** @param slot only requests of one slot can travel together */
  decide(
    steps: readonly Step[],
    names: readonly StateNames[],
    peek: boolean,
    slot: number,
  ): Promise<Outcome> {
    if (this.#unanswered === 0 && steps.length >= Math.max(this.#peak, this.#peakBefore) / 2)
      return this.#alone({ steps, names, peek }, slot)
    return new Promise((resolve, reject) =>
      this.#add({ steps, names, peek, tries: 0, resolve, reject }, slot),
    )
  }

  /** Sends what waits now rather than at the end of the turn. */
  flush(): void {
    this.#scheduled = false
    for (const [slot, batch] of this.#batches) this.#leave(batch, slot)
  }

  /** Until all that was asked is answered. */
  settled(): Promise<void> {
    this.flush()
    if (this.#unanswered === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  /** As one of a batch, without what only several need: half of this process's own work for a request. */
  async #alone(request: StepsRequest, slot: number): Promise<Outcome> {
    const { steps } = request
    this.#asks(steps.length)
    this.#leaves()
    try {
      const call = callToDecide(this.#programs, this.#time, [request])
      const reply = await this.#runner.run(call, 1 + answerLength([request]))
      this.#time.sync(reply[0]!)
      if (reply[1] !== NO_WINDOW) return outcomeOf(steps, reply, 1)
    } finally {
      this.#answered(steps.length)
    }
    return new Promise((resolve, reject) => this.#again({ ...request, tries: 0, resolve, reject }, slot))
  }

  #asks(steps: number): void {
    this.#unanswered += steps
    if (this.#unanswered > this.#peak) this.#peak = this.#unanswered
  }

  #answered(steps: number): void {
    this.#unanswered -= steps
    if (this.#unanswered === 0 && this.#waiters.length > 0) queueMicrotask(() => this.#endWaits())
  }

  #endWaits(): void {
    if (this.#unanswered > 0) return // what is asked again counts as not answered
    for (const end of this.#waiters.splice(0)) end()
  }

  #add(request: WaitingRequest, slot: number): void {
    let batch = this.#batches.get(slot)
    if (batch === undefined) {
      batch = { requests: [], steps: 0 }
      this.#batches.set(slot, batch)
    }
    batch.requests.push(request)
    batch.steps += request.steps.length
    this.#asks(request.steps.length)
    if (batch.steps >= this.#enough) this.#leave(batch, slot)
    else if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => this.flush())
    }
  }

  /** Half of what was asked at once of late: so one call is decided while the next is gathered. */
  get #enough(): number {
    return Math.min(Math.max(this.#peak, this.#peakBefore) / 2, MOST_STEPS_OF_CALL)
  }

  #leave(batch: Batch, slot: number): void {
    this.#leaves()
    this.#batches.delete(slot)
    void this.#ask(batch, slot)
  }

  #leaves(): void {
    if (++this.#calls % MEMORY !== 0) return
    this.#peakBefore = this.#peak
    this.#peak = this.#unanswered
  }

  async #ask({ requests, steps }: Batch, slot: number): Promise<void> {
    let reply: readonly number[]
    try {
      reply = await this.#runner.run(
        callToDecide(this.#programs, this.#time, requests),
        1 + answerLength(requests),
      )
    } catch (error) {
      if (requests.length > 1 && isParted(error)) return this.#askEach(requests, slot)
      this.#answered(steps)
      for (const { reject } of requests) reject(error)
      return
    }
    this.#answered(steps)
    this.#time.sync(reply[0]!)
    let at = 1
    for (const request of requests) {
      if (reply[at] === NO_WINDOW) this.#again(request, slot)
      else request.resolve(outcomeOf(request.steps, reply, at))
      at += answerLength([request])
    }
  }

  /** While a slot moves, two keys of it may be on two servers. Such a call runs nowhere; one of fewer keys may. */
  async #askEach(requests: readonly WaitingRequest[], slot: number): Promise<void> {
    const batches = requests.map((request) => ({ requests: [request], steps: request.steps.length }))
    await Promise.all(batches.map((batch) => this.#ask(batch, slot)))
  }

  #again(request: WaitingRequest, slot: number): void {
    request.tries++
    if (request.tries < TRIES) this.#add(request, slot)
    else request.reject(noWindowError())
  }
}

function isParted(error: unknown): boolean {
  return (
    error instanceof StoreError && error.cause instanceof Error && error.cause.message.startsWith('TRYAGAIN')
  )
}

/** Integers that answer requests. */
function answerLength(requests: readonly StepsRequest[]): number {
  let length = 0
  for (const { names } of requests) {
    for (let i = 0; i < names.length; i++)
      length += names[i]!.block === undefined ? FIGURES_PER_STEP : FIGURES_PER_STEP + 1
  }
  return length
}

function outcomeOf(steps: readonly Step[], reply: readonly number[], from: number): Outcome {
  const at = reply[0]!
  const figures: Figures[] = new Array(steps.length)
  const reading = newSlot()
  let instants: number[] | undefined
  let n = from
  for (let i = 0; i < steps.length; i++) {
    const { rule, phase = 0 } = steps[i]!
    const retry = never(reply[n + 1]!)
    reading.left = reply[n]!
    reading.allowed = retry === 0
    reading.delay = never(reply[n + 4]!)
    reading.ticks = reply[n + 5]! - phase
    reading.now = inUnits(rule.plan, reading.ticks)
    const instant = chargeInstant(rule.plan, reading) + phase
    if (instant > at) {
      instants ??= new Array(steps.length).fill(at)
      instants[i] = instant
    }
    const own = figuresFrom(rule.plan, reading, retry, never(reply[n + 2]!), never(reply[n + 3]!))
    n += FIGURES_PER_STEP
    const blocked = rule.block === undefined ? 0 : reply[n++]!
    figures[i] = blocked > 0 ? underBlock(own, blocked) : own
  }
  const outcome = { allowed: admitted(steps, figures), at, figures }
  return instants === undefined ? outcome : { ...outcome, instants }
}

function never(units: number): number {
  return units < 0 ? Number.POSITIVE_INFINITY : units
}
