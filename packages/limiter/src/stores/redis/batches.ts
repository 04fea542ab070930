import { stateText } from '../../core/decide/step.ts'
import { StoreError } from '../../core/errors.ts'
import type { Outcome, Step } from '../store.ts'
import type { Call, DecideCall, StepsRequest } from './call.ts'
import { FiguresCall } from './figures-call.ts'
import type { LuaPrograms } from './lua-programs.ts'
import type { Names } from './names.ts'
import { integersOf, noWindowError, type ScriptRunner, TRIES } from './runner.ts'
import type { StoreTime } from './store-time.ts'
import { StraightCalls } from './straight-call.ts'
import { type StraightForm, StraightForms } from './straight-forms.ts'

/** Steps in a call, unless one request has more: it must not keep others waiting for much longer than a trip. */
const MOST_STEPS_OF_CALL = 64
/** Calls after which it is forgotten how much was asked at once before them. */
const MEMORY = 16

interface WaitingRequest extends StepsRequest {
  readonly form: StraightForm | undefined
  tries: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

interface Batch {
  readonly requests: WaitingRequest[]
  steps: number
}

/**
 * Decisions asked for in one turn of the event loop are sent as one call, or a few; what comes alone leaves at once.
 * What fails fails for all in its call: what became of each is then unknown.
 */
export class Batches {
  readonly #runner: ScriptRunner
  readonly #programs: LuaPrograms
  readonly #names: Names
  readonly #time: StoreTime
  readonly #forms: Pick<StraightForms, 'of'>
  readonly #straight: StraightCalls
  readonly #batches = new Map<number, Batch>()
  readonly #waiters: (() => void)[] = []
  #scheduled = false
  #calls = 0
  /** Steps that are not answered yet, and the most there were at once of late. */
  #unanswered = 0
  #peak = 0
  #peakBefore = 0

  constructor(
    runner: ScriptRunner,
    programs: LuaPrograms,
    names: Names,
    time: StoreTime,
    forms: Pick<StraightForms, 'of'> = new StraightForms(programs, time),
  ) {
    this.#runner = runner
    this.#programs = programs
    this.#names = names
    this.#time = time
    this.#forms = forms
    this.#straight = new StraightCalls(names, programs, time)
  }

  /** @param slot only requests of one slot can be sent together */
  decide(steps: readonly Step[], peek: boolean, slot: number): Promise<Outcome> {
    const form = this.#forms.of(steps, peek)
    if (this.#unanswered === 0 && steps.length >= Math.max(this.#peak, this.#peakBefore) / 2)
      return this.#alone(steps, peek, form, slot)
    return new Promise((resolve, reject) => this.#add({ steps, peek, form, tries: 0, resolve, reject }, slot))
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

  /** As one of a batch, without what only several need. */
  #alone(
    steps: readonly Step[],
    peek: boolean,
    form: StraightForm | undefined,
    slot: number,
  ): Promise<Outcome> {
    const asked =
      form === undefined ? this.#figuresCall([{ steps, peek }]) : this.#straight.ofOne(form, steps)
    this.#asks(steps.length)
    this.#leaves()
    const answered = (reply: unknown): Outcome | Promise<Outcome> => {
      this.#answered(steps.length)
      const integers = integersOf(reply, asked.length)
      this.#time.sync(integers[0]!)
      return asked.outcomeOf(steps, peek, integers) ?? this.#aloneAgain(steps, peek, form, slot)
    }
    return this.#runner
      .sent(asked.call)
      .then(answered, (cause: unknown) => this.#aloneFailed(asked.call, cause, answered, steps.length))
  }

  #aloneFailed(
    call: Call,
    cause: unknown,
    answered: (reply: unknown) => Outcome | Promise<Outcome>,
    steps: number,
  ): Promise<Outcome> {
    return this.#runner.sentAgain(call, cause).then(answered, (error: unknown) => {
      this.#answered(steps)
      throw error
    })
  }

  #aloneAgain(
    steps: readonly Step[],
    peek: boolean,
    form: StraightForm | undefined,
    slot: number,
  ): Promise<Outcome> {
    return new Promise((resolve, reject) =>
      this.#again({ steps, peek, form, tries: 0, resolve, reject }, slot),
    )
  }

  #figuresCall(requests: readonly StepsRequest[]): DecideCall {
    return new FiguresCall(requests, this.#names, this.#programs, this.#time)
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

  #leave({ requests }: Batch, slot: number): void {
    this.#batches.delete(slot)
    for (const [form, own] of partsOf(requests)) {
      this.#leaves()
      void this.#ask(form, own, slot)
    }
  }

  #leaves(): void {
    if (++this.#calls % MEMORY !== 0) return
    this.#peakBefore = this.#peak
    this.#peak = this.#unanswered
  }

  async #ask(
    form: StraightForm | undefined,
    requests: readonly WaitingRequest[],
    slot: number,
  ): Promise<void> {
    let asked: DecideCall
    let reply: readonly number[]
    try {
      asked = form === undefined ? this.#figuresCall(requests) : this.#straight.of(form, requests)
      reply = await this.#runner.run(asked.call, asked.length)
    } catch (error) {
      if (requests.length > 1 && isParted(error)) return this.#askEach(requests, slot)
      this.#answered(stepsOf(requests))
      for (const { reject } of requests) reject(error)
      return
    }
    this.#answered(stepsOf(requests))
    this.#time.sync(reply[0]!)
    for (const request of requests) {
      const outcome = asked.outcomeOf(request.steps, request.peek, reply)
      if (outcome === undefined) this.#again(request, slot)
      else request.resolve(outcome)
    }
  }

  /** While a slot moves, two keys of it may be on two servers. Such a call runs nowhere; one of fewer keys may. */
  async #askEach(requests: readonly WaitingRequest[], slot: number): Promise<void> {
    await Promise.all(requests.map((request) => this.#ask(request.form, [request], slot)))
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

function stepsOf(requests: readonly StepsRequest[]): number {
  return requests.reduce((sum, { steps }) => sum + steps.length, 0)
}

type FormGroup = readonly [form: StraightForm | undefined, requests: readonly WaitingRequest[]]

/**
 * Requests of one form are sent together, and so are all those that share a form with no other. What one state is asked is decided in the order
 * in which it was asked: where forms share a state, one call decides all.
 */
function partsOf(requests: readonly WaitingRequest[]): readonly FormGroup[] {
  const first = requests[0]!.form
  if (requests.every(({ form }) => form === first)) return [[first, requests]]
  const counts = new Map<StraightForm | undefined, number>()
  for (const { form } of requests) counts.set(form, (counts.get(form) ?? 0) + 1)
  const parts = new Map<StraightForm | undefined, WaitingRequest[]>()
  for (const request of requests) {
    const form = counts.get(request.form) === 1 ? undefined : request.form
    const part = parts.get(form)
    if (part === undefined) parts.set(form, [request])
    else part.push(request)
  }
  if (shareStates(parts.values())) return [[undefined, requests]]
  return [...parts].map(([form, own]) => [own.length === 1 ? own[0]!.form : form, own])
}

function shareStates(parts: Iterable<readonly StepsRequest[]>): boolean {
  const owners = new Map<string, readonly StepsRequest[]>()
  for (const part of parts) {
    for (const { steps } of part) {
      for (const { rule, key } of steps) {
        const name = stateText(rule.namespace, rule.plan, key)
        if ((owners.get(name) ?? part) !== part) return true
        owners.set(name, part)
      }
    }
  }
  return false
}
