import type { Plan } from '../../core/decide/algorithm.ts'
import type { Step } from '../../core/decide/step.ts'
import type { Charge, Once } from '../store.ts'
import type { Laws } from './laws.ts'
import type { Script, Task } from './script.ts'
import type { StoreTime } from './store-time.ts'

/** A script and what EVAL and EVALSHA take after it. */
export interface Call {
  readonly script: Script
  readonly args: readonly string[]
}

/** One request, and the name of each step's state. */
export interface Request {
  readonly steps: readonly Step[]
  readonly names: readonly string[]
  readonly peek: boolean
}

const ROLES = { enforce: 0, quota: 1, shadow: 2, guard: 3 } as const
const PEEK = 4
const PHASED = 8

/** Requests to decide, as decide.lua.ts and decide-one.lua.ts read them. */
export function callToDecide(laws: Laws, time: StoreTime, requests: readonly Request[]): Call {
  const [first] = requests
  if (requests.length === 1 && first!.steps.length === 1) return callToDecideOne(laws, time, first!)
  const draft = new Draft(laws, time)
  const keys: number[] = []
  const parts: number[] = []
  for (const { steps, names, peek } of requests) {
    for (let i = 0; i < steps.length; i++) {
      keys.push(draft.key(names[i]!))
      parts.push(draft.part(steps[i]!, i, peek))
    }
  }
  const words: string[] = []
  let n = 0
  for (const { steps } of requests) {
    for (let i = 0; i < steps.length; i++, n++) {
      const { cost, phase = 0, lease = 0, plan } = steps[i]!
      words.push(String(draft.ref(keys[n]!, parts[n]!) * 2 + (i < steps.length - 1 ? 1 : 0)), String(cost))
      if (phase !== 0) words.push(String(phase))
      if (laws.namesLeases(plan)) words.push(String(lease))
    }
  }
  return draft.call('decide', words)
}

function callToDecideOne(laws: Laws, time: StoreTime, { steps, names, peek }: Request): Call {
  const { plan, cost, role, phase = 0, lease = 0 } = steps[0]!
  const { law, words } = laws.written(plan, time.now())
  const charges = peek || role === 'guard' ? '0' : '1'
  const args = ['1', names[0]!, time.word(), charges, ...words, String(cost)]
  if (phase !== 0 || lease !== 0) args.push(String(phase), String(lease))
  return { script: laws.scriptOfOne(law), args }
}

/** Charges to correct, as settle.lua.ts reads them. `names`: of each charge's state, and then of what remembers `once`. */
export function callToSettle(
  laws: Laws,
  time: StoreTime,
  charges: readonly Charge[],
  names: readonly string[],
  once: Once | undefined,
): Call {
  const draft = new Draft(laws, time)
  const keys = names.map((name) => draft.key(name))
  const parts = charges.map(({ step }) => draft.part(step, 0, false))
  const words = [once === undefined ? '' : String(once.until)]
  charges.forEach(({ step: { plan, phase = 0, lease = 0 }, at, change }, i) => {
    const charged = Math.floor((at - phase) / plan.unit)
    words.push(...[draft.ref(keys[i]!, parts[i]!), change, charged, phase, lease].map(String))
  })
  return draft.call('settle', words)
}

/** A call while it is put together: its keys and parts are each said once, and numbers refer to them. */
class Draft {
  readonly #laws: Laws
  readonly #time: StoreTime
  readonly #now: number
  readonly #keys = new Map<string, number>()
  readonly #parts: { readonly plan: Plan; readonly mode: number; readonly back: number }[] = []
  readonly #words: string[] = []
  #used = 0

  constructor(laws: Laws, time: StoreTime) {
    this.#laws = laws
    this.#time = time
    this.#now = time.now()
  }

  key(name: string): number {
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    this.#keys.set(name, this.#keys.size)
    return this.#keys.size - 1
  }

  /** @param index the step's place in its request */
  part({ plan, role, watches = -1, phase = 0 }: Step, index: number, peek: boolean): number {
    const mode = ROLES[role] + (peek ? PEEK : 0) + (phase === 0 ? 0 : PHASED)
    const back = role === 'guard' ? index - watches : 0
    const parts = this.#parts
    for (let i = parts.length - 1; i >= 0; i--) {
      const part = parts[i]!
      if (part.plan === plan && part.mode === mode && part.back === back) return i
    }
    const { law, words } = this.#laws.written(plan, this.#now)
    this.#used |= 1 << law
    this.#words.push(String(law), String(mode), String(back), ...words)
    return parts.push({ plan, mode, back }) - 1
  }

  /** A key and a part in one number, once all parts are known. */
  ref(key: number, part: number): number {
    return key * this.#parts.length + part
  }

  call(task: Task, words: readonly string[]): Call {
    const head = [this.#time.word(), String(this.#parts.length)]
    return {
      script: this.#laws.script(task, this.#used),
      args: [String(this.#keys.size), ...this.#keys.keys(), ...head, ...this.#words, ...words],
    }
  }
}
