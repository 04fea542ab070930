import { newSlot, run, type Slot, type States } from '../../core/decide/run.ts'
import type { Outcome } from '../store.ts'
import type { Call, DecideCall, StepsRequest } from './call.ts'
import type { LuaPrograms } from './lua-programs.ts'
import type { Names } from './names.ts'
import { NO_WINDOW } from './runner.ts'
import type { StoreTime } from './store-time.ts'
import type { StraightForm } from './straight-forms.ts'

/** Requests of one form, as decide-straight.lua.ts reads them; and what `run` makes of the states that it answers. */
export class StraightCall implements DecideCall, States {
  readonly call: Call
  readonly length: number
  readonly #isTimed: boolean
  /** Where in the reply the state of each step begins, in the order of requests. */
  readonly #places: number[] = []
  /** After how many integers of the reply a request says if it lacked a window. */
  readonly #ends: number[] = []
  readonly #slots: Slot[] = []
  #cells: Float64Array | undefined
  /** How many requests and steps have been read. */
  #request = 0
  #step = 0

  constructor(
    form: StraightForm,
    requests: readonly StepsRequest[],
    names: Names,
    programs: LuaPrograms,
    time: StoreTime,
  ) {
    const { script, sizes, sent, isTimed } = form
    const known = requests.length > 1 ? new Map<string, number>() : undefined
    const args = ['']
    const keys: number[] = []
    const starts: number[] = []
    let isListed = false
    let length = 1
    for (let r = 0; r < requests.length; r++) {
      const { steps } = requests[r]!
      for (let i = 0; i < steps.length; i++) {
        const { rule, key, cost, phase = 0 } = steps[i]!
        const name = names.startOf(key) + names.endsOf(rule).state
        let k = known?.get(name)
        if (k === undefined) {
          k = args.push(name) - 1
          known?.set(name, k)
          starts.push(length)
          length += sizes[i]!
        } else isListed = true
        keys.push(k)
        this.#places.push(starts[k - 1]!)
        isListed ||= cost !== 1 || phase !== 0
      }
      if (isTimed) this.#ends.push(length++)
    }
    args[0] = String(args.length - 1)
    args.push(time.word())
    for (const i of sent) args.push(...programs.written(requests[0]!.steps[i]!.rule.plan, time.now()).words)
    if (isListed) {
      let n = 0
      for (const { steps } of requests) {
        for (const { cost, phase = 0 } of steps) args.push(String(keys[n++]), String(cost), String(phase))
      }
    }
    this.call = { script, args }
    this.length = length
    this.#isTimed = isTimed
  }

  outcomeOf({ steps, peek }: StepsRequest, reply: readonly number[]): Outcome | undefined {
    this.#cells ??= Float64Array.from(reply)
    if (this.#isTimed && reply[this.#ends[this.#request++]!] === NO_WINDOW) {
      this.#step += steps.length
      return undefined
    }
    return run(steps, this, reply[0]!, peek)
  }

  slots(count: number): readonly Slot[] {
    while (this.#slots.length < count) this.#slots.push(newSlot())
    return this.#slots
  }

  /** A run asks for the states of its steps in their order. */
  find(_namespace: string, _plan: unknown, _key: string, _now: number, slot: Slot): void {
    slot.cells = this.#cells!
    slot.offset = this.#places[this.#step++]!
  }

  /** They have room. */
  place(): void {}
}
