import { type Clock, monotonicClock } from '../clock.ts'
import type { Decision } from '../core/decide/decision.ts'
import type { Step } from '../core/decide/step.ts'
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.ts'
import { Agenda } from './agenda.ts'
import { foresee } from './foreseen.ts'
import { Barrier, Lane } from './lane.ts'
import { LOOK_AGAIN_MS, nameOf, unitsBefore, waitOf } from './lane-wait.ts'
import type { Timers } from './timers.ts'
import type { KnownWait, TurnRefusal, Waiter, WaiterTurns } from './waiter.ts'

/** Something other than a limit holds a call back. */
export interface Held {
  /** Its name, to open it. */
  readonly held: string
  /** Milliseconds until it is asked again; infinite: when it is opened. */
  readonly waitMs: number
}

/** What turns ask whether a waiter is served. */
export interface Judge {
  /** Charges the waiter's cost, if that is admitted. */
  ask(waiter: Waiter): MaybePromise<Decision | Held>
  /** What the store says of these steps, without charging. */
  look(steps: readonly Step[], waiter: Waiter): MaybePromise<Decision>
  giveBack(decision: Decision, waiter: Waiter): MaybePromise<unknown>
  /** What may hold the waiter back, beside the states of its steps. */
  gatesOf?(waiter: Waiter): readonly string[]
  /** How much a flow gets, beside others. Default 1. */
  weightOf?(flow: string): number
}

export interface TurnQueueOptions {
  readonly clock?: Clock | undefined
  readonly timers?: Timers | undefined
  /** Most waiters at once. */
  readonly most: number
  /** Most of them for the same counters. Default: any. */
  readonly mostPerLane?: number | undefined
}

/**
 * Those who wait for limits, each in the lane of the counters that it needs. Inside a lane: by priority, then in order of
 * arrival. Lanes that wait for the same counter: by priority, then fairly. Lanes that wait for others are not held back.
 * All share one timer.
 * @example
 * const turns = new TurnQueue(judge, { most: 1_000 })
 * turns.enter(waiter)
 */
export class TurnQueue implements WaiterTurns {
  readonly #judge: Judge
  readonly #agenda: Agenda
  readonly #most: number
  readonly #mostPerLane: number
  readonly #lanes = new Map<string, Lane>()
  readonly #barriers = new Map<string, Barrier>()
  /** Lanes that wait for an answer. */
  readonly #asking = new Set<Lane>()
  #seq = 0
  #size = 0
  #draining: (() => void)[] | undefined

  constructor(
    judge: Judge,
    { clock = monotonicClock(), timers, most, mostPerLane = most }: TurnQueueOptions,
  ) {
    this.#judge = judge
    this.#agenda = new Agenda(clock, timers)
    this.#most = most
    this.#mostPerLane = mostPerLane
  }

  /** So many wait. */
  get size(): number {
    return this.#size
  }

  /** Milliseconds by its clock: what waiters have counts so. */
  now(): number {
    return this.#agenda.now()
  }

  /** The waiter is served, refused or fails: at once, or when its turn comes. */
  enter(waiter: Waiter): void {
    waiter.seq = ++this.#seq
    if (waiter.signal?.aborted) waiter.failed(waiter.signal.reason)
    else if (this.#draining !== undefined) waiter.refused('draining', undefined, null)
    else if (this.#lanes.size > 0) this.#enterLane(waiter)
    else this.#askAlone(waiter)
  }

  /** What these names held back may be asked for again. */
  open(names: readonly string[]): void {
    if (this.#lanes.size === 0) return
    for (const lane of this.#asking) if (names.some((name) => lane.names.includes(name))) lane.again = true
    for (const name of names) this.#open(this.#barriers.get(name))
  }

  /** What steps charge came back: those who wait for it may be served. */
  openSteps(steps: readonly Step[]): void {
    if (this.#lanes.size > 0) this.open(steps.map(nameOf))
  }

  /** From now on no others are taken. Resolves when nobody waits any more. */
  drain(): Promise<void> {
    this.#draining ??= []
    if (this.#size === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#draining!.push(resolve))
  }

  #serve(barrier: Barrier): void {
    if (barrier.busy) return
    barrier.busy = true
    for (let lane = barrier.next; lane !== undefined && barrier.at <= this.now(); lane = barrier.next) {
      barrier.leave(lane)
      const on = this.#askOnce(lane, barrier)
      if (on === undefined) return // busy until it is answered
      this.#rejoin(lane, barrier, on)
    }
    barrier.busy = false
    if (barrier.next === undefined) {
      this.#barriers.delete(barrier.name)
      this.#agenda.remove(barrier)
    } else this.#agenda.put(barrier, barrier.at)
  }

  /** Called by waiters: their time has come. */
  waiterDue(waiter: Waiter): void {
    if (waiter.stage !== 'delayed') {
      this.leave(waiter, 'late')
      return
    }
    const decision = waiter.decision!
    this.#finish(waiter)
    waiter.served(decision)
  }

  /** Called by waiters. @param why `undefined`: its signal aborted */
  leave(waiter: Waiter, why: TurnRefusal | undefined, known?: KnownWait): void {
    const { stage, decision } = waiter
    const lane = waiter.lane as Lane | undefined
    if (stage === 'gone' || stage === 'new') return
    const barrier = lane?.barrier
    const last = known?.decision ?? lane?.refused
    const least = known?.waitMs ?? this.#leastMs(lane)
    if (lane !== undefined) this.#remove(lane, waiter)
    this.#finish(waiter)
    if (stage === 'delayed') this.#giveBack(decision!, waiter)
    if (why === undefined) waiter.failed(waiter.signal!.reason)
    else waiter.refused(why, last, least)
    if (lane === undefined || lane.busy) return
    if (lane.size === 0) this.#drop(lane)
    if (barrier !== undefined) this.#recheck(barrier)
  }

  /** Where nobody waits, most are served without any lane. */
  #askAlone(waiter: Waiter): void {
    const answer = this.#ask(waiter)
    if (answer === undefined) return
    if (!isPromise(answer) && isAdmitted(answer)) {
      this.#admit(waiter, answer)
      return
    }
    const lane = this.#newLane(waiter, this.#namesOf(waiter))
    this.#push(lane, waiter)
    lane.busy = true
    waiter.stage = 'asked'
    const on = this.#answer(lane, waiter, undefined, answer)
    if (on === undefined) return
    lane.busy = false
    if (on) this.#run(lane)
  }

  #enterLane(waiter: Waiter): void {
    const names = this.#namesOf(waiter)
    const lane = this.#lanes.get(idOf(waiter.flow, names))
    const barrier = lane === undefined ? this.#barrierOf(names) : lane.barrier
    if (lane === undefined && barrier === undefined) {
      const own = this.#newLane(waiter, names)
      this.#push(own, waiter)
      this.#run(own)
      return
    }
    if (this.#isFull(lane)) {
      waiter.refused('full', lane?.refused, this.#nextPlaceMs(barrier))
      return
    }
    const own = lane ?? this.#newLane(waiter, names)
    this.#push(own, waiter)
    if (barrier === undefined) return // it is behind one who asks
    if (lane === undefined) barrier.join(own)
    else barrier.lanes.put(own)
    this.#recheck(barrier)
    if (waiter.stage === 'waiting') this.#foresee(own, waiter)
  }

  /** Asks for those of a lane that nothing holds back. */
  #run(lane: Lane): void {
    while (lane.size > 0) if (this.#askOnce(lane, undefined) !== true) return
    this.#drop(lane)
  }

  /** Whether the next can be asked for; `undefined`: when it is answered. */
  #askOnce(lane: Lane, barrier: Barrier | undefined): boolean | undefined {
    const head = lane.head
    if (head === undefined) return true
    lane.busy = true
    head.stage = 'asked'
    const answer = this.#ask(head)
    if (answer === undefined) this.#remove(lane, head)
    const on = answer === undefined || this.#answer(lane, head, barrier, answer)
    if (on !== undefined) lane.busy = false
    return on
  }

  #ask(waiter: Waiter): MaybePromise<Decision | Held> | undefined {
    try {
      return this.#judge.ask(waiter)
    } catch (error) {
      this.#finish(waiter)
      waiter.failed(error)
      return undefined
    }
  }

  #answer(
    lane: Lane,
    head: Waiter,
    barrier: Barrier | undefined,
    answer: MaybePromise<Decision | Held>,
  ): boolean | undefined {
    if (!isPromise(answer)) return this.#take(lane, head, answer, barrier)
    lane.again = false
    this.#asking.add(lane)
    const goOn = (on: boolean): void => {
      this.#asking.delete(lane)
      lane.busy = false
      if (barrier === undefined) {
        if (on) this.#run(lane)
        return
      }
      barrier.busy = false
      this.#rejoin(lane, barrier, on)
      this.#serve(barrier)
    }
    answer.then(
      (own) => goOn(this.#take(lane, head, own, barrier)),
      (error) => {
        if (head.stage !== 'gone') {
          this.#remove(lane, head)
          this.#finish(head)
          head.failed(error)
        }
        goOn(true)
      },
    )
    return undefined
  }

  /** @returns whether the next can be asked for */
  #take(lane: Lane, head: Waiter, answer: Decision | Held, barrier: Barrier | undefined): boolean {
    if (head.stage === 'gone') {
      if (isAdmitted(answer)) this.#giveBack(answer, head)
      return true
    }
    if ('held' in answer) {
      const { held, waitMs } = answer
      return this.#hold(lane, head, held, lane.again ? 0 : waitMs, Number.isFinite(waitMs) ? waitMs : 0)
    }
    if (answer.allowed) {
      this.#remove(lane, head)
      barrier?.charge(lane, unitsAt(barrier.name, lane, head), this.#judge.weightOf?.(head.flow) ?? 1)
      this.#admit(head, answer)
      return true
    }
    lane.refused = answer
    lane.refusedAt = this.now()
    const wait = waitOf(answer)
    if (wait === undefined) return this.#refuse(lane, head, 'never', answer, null)
    if (!head.waits(answer)) return this.#refuse(lane, head, 'unwilling', answer, answer.retryAfterMs)
    // Only a shared store answers by promise.
    const shared = barrier?.name === wait.name && this.#asking.has(lane)
    const spreadMs = shared ? barrier!.spreadMs(wait.ms, wait.slackMs) : 0
    return this.#hold(lane, head, wait.name, lane.again ? 0 : wait.ms + spreadMs, wait.firmMs)
  }

  #hold(lane: Lane, head: Waiter, name: string, ms: number, firmMs: number): boolean {
    const now = this.now()
    if (firmMs > head.at - now) return this.#refuse(lane, head, 'late', lane.refused, firmMs)
    if (this.#size > this.#most && head === lane.head && lane.size === 1 && lane.home === undefined)
      return this.#refuse(lane, head, 'full', lane.refused, firmMs)
    head.stage = 'waiting'
    let barrier = this.#barriers.get(name)
    if (barrier === undefined) {
      barrier = new Barrier(name, (due) => this.#serve(due))
      this.#barriers.set(name, barrier)
    }
    barrier.join(lane)
    if (barrier.next === lane) {
      barrier.setBy = lane.head
      this.#agenda.put(barrier, now + ms)
    }
    for (const waiter of lane.waiters()) if (waiter !== head && !waiter.looked) this.#foresee(lane, waiter)
    return false
  }

  #refuse(
    lane: Lane,
    head: Waiter,
    why: TurnRefusal,
    decision: Decision | undefined,
    waitMs: number | null,
  ): true {
    this.#remove(lane, head)
    this.#finish(head)
    head.refused(why, decision, waitMs)
    return true
  }

  #admit(waiter: Waiter, decision: Decision): void {
    const { delayMs } = decision
    if (delayMs === 0) {
      this.#finish(waiter)
      waiter.served(decision)
      return
    }
    const now = this.now()
    if (delayMs > Math.max(0, waiter.at - now)) {
      this.#finish(waiter)
      this.#giveBack(decision, waiter)
      waiter.refused('late', decision, delayMs)
      return
    }
    if (waiter.stage === 'new') waiter.signal?.addEventListener('abort', waiter)
    waiter.stage = 'delayed'
    waiter.decision = decision
    this.#size++
    this.#agenda.put(waiter, now + delayMs)
  }

  /** One who cannot be served in time goes at once. Looks of a lane follow each other: those who go do not count. */
  #foresee(lane: Lane, waiter: Waiter): void {
    waiter.looked = true
    if (waiter.at === Number.POSITIVE_INFINITY) return
    const look = (): MaybePromise<void> => {
      const { barrier } = lane
      if (waiter.stage !== 'waiting' || waiter.lane !== lane || barrier === undefined) return
      const open = Math.max(0, Number.isFinite(barrier.at) ? barrier.at - this.now() : 0)
      const units = unitsBefore(lane, waiter, barrier)
      const foreseen = foresee(waiter.steps, units, (steps) => this.#judge.look(steps, waiter))
      return andThen(foreseen, ({ waitMs, decision }) => {
        const wait = Math.max(open, waitMs)
        if (wait <= waiter.at - this.now() || waiter.stage !== 'waiting') return
        this.leave(waiter, 'late', { waitMs: wait, decision: waitMs > open ? decision : lane.refused })
      })
    }
    const looking = lane.looked === undefined ? look() : lane.looked.then(look)
    if (looking !== undefined) lane.looked = looking.catch(() => undefined) // who asks hears of failures
  }

  /** The first there may be another one, who needs less than the one who was refused. */
  #recheck(barrier: Barrier): void {
    if (barrier.next?.head !== barrier.setBy) this.#open(barrier)
  }

  #open(barrier: Barrier | undefined): void {
    if (barrier === undefined || barrier.busy) return
    barrier.at = this.now()
    barrier.served = 0
    this.#serve(barrier)
  }

  #rejoin(lane: Lane, barrier: Barrier, on: boolean): void {
    if (!on) return
    if (lane.size > 0) barrier.join(lane)
    else this.#drop(lane)
  }

  #giveBack(decision: Decision, waiter: Waiter): void {
    const { steps } = waiter
    const done = this.#judge.giveBack(decision, waiter)
    if (done instanceof Promise)
      done.then(
        () => this.openSteps(steps),
        () => undefined, // what the store did not take back ends by itself
      )
    else this.openSteps(steps)
  }

  #namesOf(waiter: Waiter): readonly string[] {
    const names = waiter.steps.map(nameOf)
    const gates = this.#judge.gatesOf?.(waiter)
    return gates === undefined ? names : [...names, ...gates]
  }

  #newLane(waiter: Waiter, names: readonly string[]): Lane {
    const lane = new Lane(idOf(waiter.flow, names), names, waiter.flow, waiter.steps)
    this.#lanes.set(lane.id, lane)
    return lane
  }

  #barrierOf(names: readonly string[]): Barrier | undefined {
    for (const name of names) {
      const barrier = this.#barriers.get(name)
      if (barrier !== undefined) return barrier
    }
    return undefined
  }

  #isFull(lane: Lane | undefined): boolean {
    return this.#size >= this.#most || (lane !== undefined && lane.size >= this.#mostPerLane)
  }

  /** What the last refusal of a lane says by now; `null`: not known. */
  #leastMs(lane: Lane | undefined): number | null {
    const ms = lane?.refused?.retryAfterMs ?? null
    return ms === null ? null : Math.max(0, ms - (this.now() - lane!.refusedAt))
  }

  #nextPlaceMs(barrier: Barrier | undefined): number {
    const ms = (barrier?.at ?? 0) - this.now()
    return Number.isFinite(ms) ? Math.max(1, ms) : LOOK_AGAIN_MS
  }

  #push(lane: Lane, waiter: Waiter): void {
    lane.push(waiter)
    waiter.stage = 'waiting'
    this.#size++
    waiter.signal?.addEventListener('abort', waiter)
    if (waiter.at < Number.POSITIVE_INFINITY) this.#agenda.put(waiter, waiter.at)
  }

  #remove(lane: Lane, waiter: Waiter): void {
    lane.remove(waiter)
    this.#size--
    if (lane.barrier === undefined) return
    if (lane.size === 0) lane.barrier.leave(lane)
    else lane.barrier.lanes.put(lane)
  }

  #drop(lane: Lane): void {
    lane.barrier?.leave(lane)
    this.#lanes.delete(lane.id)
  }

  #finish(waiter: Waiter): void {
    if (waiter.stage === 'delayed') this.#size--
    if (waiter.stage !== 'new') {
      waiter.signal?.removeEventListener('abort', waiter)
      if (waiter.place >= 0) this.#agenda.remove(waiter)
    }
    waiter.stage = 'gone'
    if (this.#draining !== undefined && this.#size === 0) for (const done of this.#draining.splice(0)) done()
  }
}

/** No two lists have one text. */
function idOf(flow: string, names: readonly string[]): string {
  let id = `${flow.length}:${flow}`
  for (const name of names) id += `${name.length}:${name}`
  return id
}

function isAdmitted(answer: Decision | Held): answer is Decision {
  return !('held' in answer) && answer.allowed
}

/** What of its cost was charged there; 1 where it is no counter. */
function unitsAt(name: string, lane: Lane, { steps }: Waiter): number {
  return steps[lane.names.indexOf(name)]?.cost ?? 1
}
