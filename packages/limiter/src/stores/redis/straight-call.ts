import { newSlot, run, type Slot, type States } from '../../core/decide/run.ts'
import type { Outcome, Step } from '../store.ts'
import type { Call, DecideCall, StepsRequest } from './call.ts'
import type { LuaPrograms } from './lua-programs.ts'
import type { Names } from './names.ts'
import { NO_WINDOW } from './runner.ts'
import type { StoreTime } from './store-time.ts'
import type { StraightForm } from './straight-forms.ts'

/** Room for the states of one reply, in which runs find those of their steps in order. It is used again for each. */
export class RepliedStates implements States {
  cells: Float64Array = new Float64Array(64)
  /** Where the state of each step begins, and how many steps have been found. */
  places: readonly number[] = []
  found = 0
  readonly #slots: Slot[] = []

  slots(count: number): readonly Slot[] {
    while (this.#slots.length < count) this.#slots.push(newSlot())
    return this.#slots
  }

  find(_namespace: string, _plan: unknown, _key: string, _now: number, slot: Slot): void {
    slot.cells = this.cells
    slot.offset = this.places[this.found++]!
  }

  /** They have room. */
  place(): void {}
}

/** Requests of one form, as decide-straight.lua.ts reads them; and what `run` makes of the states that it answers. */
export class StraightCall implements DecideCall {
  readonly call: Call
  readonly length: number
  /** Where in the reply the state of each step begins, in the order of requests. */
  readonly #places: readonly number[]
  /** Where in the reply it stands if a request lacked a window, where that can be. */
  readonly #ends: readonly number[]
  readonly #states: RepliedStates
  /** How many requests were answered. */
  #read = 0

  constructor(
    call: Call,
    length: number,
    places: readonly number[],
    ends: readonly number[],
    states: RepliedStates,
  ) {
    this.call = call
    this.length = length
    this.#places = places
    this.#ends = ends
    this.#states = states
  }

  outcomeOf(steps: readonly Step[], peek: boolean, reply: readonly number[]): Outcome | undefined {
    const states = this.#states
    if (this.#read === 0) {
      if (states.cells.length < reply.length) states.cells = new Float64Array(reply.length)
      for (let i = 0; i < reply.length; i++) states.cells[i] = reply[i]!
      states.places = this.#places
      states.found = 0
    }
    const end = this.#ends[this.#read++]
    if (end === undefined || reply[end] !== NO_WINDOW) return run(steps, states, reply[0]!, peek)
    states.found += steps.length
    return undefined
  }
}

/** Writes the calls. */
export class StraightCalls {
  readonly #names: Names
  readonly #programs: LuaPrograms
  readonly #time: StoreTime
  readonly #states = new RepliedStates()

  constructor(names: Names, programs: LuaPrograms, time: StoreTime) {
    this.#names = names
    this.#programs = programs
    this.#time = time
  }

  /** As `of` for one request: its form knows where in the reply its states are. */
  ofOne(form: StraightForm, steps: readonly Step[]): StraightCall {
    const { script, lone } = form
    const command = ['EVALSHA', script.sha, lone.keys]
    let isListed = false
    for (let i = 0; i < steps.length; i++) {
      const { rule, key, cost, phase = 0 } = steps[i]!
      command.push(this.#names.state(rule, key))
      isListed ||= cost !== 1 || phase !== 0
    }
    this.#finish(command, form, steps)
    if (isListed) {
      for (let i = 0; i < steps.length; i++) list(command, i + 1, steps[i]!)
    }
    return new StraightCall({ script, command }, lone.length, lone.places, lone.ends, this.#states)
  }

  of(form: StraightForm, requests: readonly StepsRequest[]): StraightCall {
    const { script, sizes, isTimed } = form
    const command = ['EVALSHA', script.sha, '']
    const known = new Map<string, number>()
    const keys: number[] = []
    const starts: number[] = []
    const places: number[] = []
    const ends: number[] = []
    let isListed = false
    let length = 1
    for (let r = 0; r < requests.length; r++) {
      const { steps } = requests[r]!
      for (let i = 0; i < steps.length; i++) {
        const { rule, key, cost, phase = 0 } = steps[i]!
        const name = this.#names.state(rule, key)
        let k = known.get(name)
        if (k === undefined) {
          k = starts.push(length)
          known.set(name, k)
          command.push(name)
          length += sizes[i]!
        } else isListed = true
        keys.push(k)
        places.push(starts[k - 1]!)
        isListed ||= cost !== 1 || phase !== 0
      }
      if (isTimed) ends.push(length++)
    }
    command[2] = String(starts.length)
    this.#finish(command, form, requests[0]!.steps)
    if (isListed) {
      let n = 0
      for (const { steps } of requests) for (const step of steps) list(command, keys[n++]!, step)
    }
    return new StraightCall({ script, command }, length, places, ends, this.#states)
  }

  /** The time, and the words of plans that are not in the script. */
  #finish(command: string[], { sent }: StraightForm, steps: readonly Step[]): void {
    command.push(this.#time.word())
    for (let i = 0; i < sent.length; i++)
      command.push(...this.#programs.written(steps[sent[i]!]!.rule.plan, this.#time.now()).words)
  }
}

function list(command: string[], key: number, { cost, phase = 0 }: Step): void {
  command.push(String(key), String(cost), String(phase))
}
