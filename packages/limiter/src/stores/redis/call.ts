import type { Plan } from '../../core/decide/algorithm.ts'
import type { BlockPlan } from '../../core/decide/block/block.ts'
import type { Charge, Once, Outcome, Step } from '../store.ts'
import { type LuaPrograms, withPower } from './lua-programs.ts'
import type { Names } from './names.ts'
import type { Script, Task } from './script.ts'
import type { StoreTime } from './store-time.ts'

/** A script, and the command that runs it: `EVALSHA`, its name, the number of keys, the keys, and its arguments. */
export interface Call {
  readonly script: Script
  readonly command: string[]
}

/** What a store was asked about one request. */
export interface StepsRequest {
  readonly steps: readonly Step[]
  readonly peek: boolean
}

/** A call that decides requests, and how its reply is read. */
export interface DecideCall {
  readonly call: Call
  /** Integers of the reply; the first is the time. */
  readonly length: number
  /**
   * What a request is answered. To be asked for each request once, in order, and without waiting between them.
   * @returns `undefined` where no window of a calendar held the time: it was not charged
   */
  outcomeOf(steps: readonly Step[], peek: boolean, reply: readonly number[]): Outcome | undefined
}

const ROLES = { enforce: 0, quota: 1, shadow: 2, deprioritize: 2 } as const
const PEEK = 4
const PHASED = 8
const BLOCKING = 16

/** Requests to decide, as decide.lua.ts and decide-one.lua.ts read them. */
export function callToDecide(
  programs: LuaPrograms,
  time: StoreTime,
  names: Names,
  requests: readonly StepsRequest[],
): Call {
  const [first] = requests
  const [{ rule }] = first!.steps as [Step]
  if (requests.length === 1 && first!.steps.length === 1 && !rule.block && programs.isLong(rule.plan))
    return callToDecideOne(programs, time, names, first!)
  const draft = new Draft(programs, time)
  const places: { readonly key: number; readonly part: number; readonly block: number }[] = []
  for (const { steps, peek } of requests) {
    for (let i = 0; i < steps.length; i++) {
      const { state, block } = names.of(steps[i]!)
      places.push({
        key: draft.key(state),
        part: draft.part(steps[i]!, peek, true),
        block: block === undefined ? -1 : draft.key(block),
      })
    }
  }
  const words: string[] = []
  let n = 0
  for (const { steps } of requests) {
    for (let i = 0; i < steps.length; i++, n++) {
      const { cost, phase = 0, chargeId = 0, rule } = steps[i]!
      const { key, part, block } = places[n]!
      words.push(String(draft.ref(key, part) * 2 + (i < steps.length - 1 ? 1 : 0)), String(cost))
      if (phase !== 0) words.push(String(phase))
      if (programs.namesCharges(rule.plan)) words.push(String(chargeId))
      if (block >= 0) words.push(String(block))
    }
  }
  return draft.call('decide', words)
}

function callToDecideOne(
  programs: LuaPrograms,
  time: StoreTime,
  names: Names,
  { steps, peek }: StepsRequest,
): Call {
  const { rule, cost, phase = 0, chargeId = 0 } = steps[0]!
  const { twin, words, own } = programs.written(rule.plan, time.now())
  const script = own ?? programs.scriptOfOne(twin)
  const command = ['EVALSHA', script.sha, '1', names.of(steps[0]!).state, time.word(), peek ? '0' : '1']
  if (own === undefined) command.push(...words)
  command.push(String(cost))
  if (phase !== 0 || chargeId !== 0) command.push(String(phase), String(chargeId))
  return { script, command }
}

/** Charges to correct, as settle.lua.ts reads them. `names`: of each charge's state, and then of what remembers `once`. */
export function callToSettle(
  programs: LuaPrograms,
  time: StoreTime,
  charges: readonly Charge[],
  names: readonly string[],
  once: Once | undefined,
): Call {
  const draft = new Draft(programs, time)
  const keys = names.map((name) => draft.key(name))
  const parts = charges.map(({ step }) => draft.part(step, false, false))
  const words = [once === undefined ? '' : String(once.until)]
  charges.forEach(({ step: { rule, phase = 0, chargeId = 0 }, at, change }, i) => {
    const charged = Math.floor((at - phase) / rule.plan.unit)
    words.push(...[draft.ref(keys[i]!, parts[i]!), change, charged, phase, chargeId].map(String))
  })
  return draft.call('settle', words)
}

/** A block to set for so many microseconds, or to end (0). */
export function callToBlock(programs: LuaPrograms, time: StoreTime, name: string, ticks: number): Call {
  return callOf(programs.scriptOfBlock(), [name], [time.word(), String(ticks)])
}

export function callOf(script: Script, keys: readonly string[], words: readonly string[]): Call {
  return { script, command: ['EVALSHA', script.sha, String(keys.length), ...keys, ...words] }
}

/** A part of a call: a rule in a mode. */
interface CallPart {
  readonly plan: Plan
  readonly mode: number
  readonly block: BlockPlan | undefined
}

/** A call while it is put together: its keys and parts are each written once, and numbers refer to them. */
class Draft {
  readonly #programs: LuaPrograms
  readonly #time: StoreTime
  readonly #now: number
  readonly #keys = new Map<string, number>()
  readonly #parts: CallPart[] = []
  readonly #words: string[] = []
  #needs = 0

  constructor(programs: LuaPrograms, time: StoreTime) {
    this.#programs = programs
    this.#time = time
    this.#now = time.now()
  }

  key(name: string): number {
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    this.#keys.set(name, this.#keys.size)
    return this.#keys.size - 1
  }

  part({ rule, phase = 0 }: Step, peek: boolean, blocks: boolean): number {
    const { plan } = rule
    const block = blocks ? rule.block : undefined
    const mode =
      ROLES[rule.role] + (peek ? PEEK : 0) + (phase === 0 ? 0 : PHASED) + (block === undefined ? 0 : BLOCKING)
    const parts = this.#parts
    for (let i = parts.length - 1; i >= 0; i--) {
      const part = parts[i]!
      if (part.plan === plan && part.mode === mode && part.block === block) return i
    }
    const { twin, words } = this.#programs.written(plan, this.#now)
    this.#needs = withPower(this.#needs, twin)
    this.#words.push(String(twin), String(mode), ...words)
    if (block !== undefined) {
      this.#needs = withPower(this.#needs, 0)
      this.#words.push(String(block.after), String(block.within), String(block.period))
    }
    return parts.push({ plan, mode, block }) - 1
  }

  /** A key and a part in one number, once all parts are known. */
  ref(key: number, part: number): number {
    return key * this.#parts.length + part
  }

  call(task: Task, words: readonly string[]): Call {
    const head = [this.#time.word(), String(this.#parts.length)]
    const script = this.#programs.script(task, this.#needs)
    return callOf(script, [...this.#keys.keys()], [...head, ...this.#words, ...words])
  }
}
