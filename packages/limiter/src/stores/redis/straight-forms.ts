import type { Rule } from '../../core/decide/rule.ts'
import type { Twin } from '../../core/decide/twin.ts'
import { twins } from '../../core/decide/twins.ts'
import type { Step } from '../store.ts'
import type { StraightStep } from './decide-straight.lua.ts'
import type { LuaPrograms } from './lua-programs.ts'
import { type Script, scriptOfStraight } from './script.ts'
import type { StoreTime } from './store-time.ts'

/** Requests by the same rules, in the same order, that all charge or all only look: one script decides them. */
export interface StraightForm {
  readonly script: Script
  /** How many integers the state of each step has. */
  readonly sizes: readonly number[]
  /** The places of the steps that a call brings the plans of. */
  readonly sent: readonly number[]
  /** Whether the reply says of each request if it lacked a window of a calendar. */
  readonly isTimed: boolean
  /** Of a call for one request: its number of keys, and what StraightCall needs to read the reply. */
  readonly lone: {
    readonly keys: string
    readonly length: number
    readonly places: readonly number[]
    readonly ends: readonly number[]
  }
}

/** Steps of a request that has a form: Lua has 200 local variables. */
const MOST_STEPS = 4
/**
 * Scripts that know their plans: a sixth less of the server's time. A server keeps every script (3 to 15 kB) until it is
 * restarted, so not each of thousands of plans may have one: further ones get theirs by the call.
 */
const MOST_OWN_SCRIPTS = 64
/** In all; requests that would need more are decided by decide.lua.ts. */
const MOST_SCRIPTS = 256

interface Node {
  charge?: StraightForm | null
  peek?: StraightForm | null
  readonly next: WeakMap<Rule, Node>
}

/** The form of each list of rules; made once. */
export class StraightForms {
  readonly #programs: LuaPrograms
  readonly #time: StoreTime
  readonly #mostOwn: number
  readonly #root: Node = { next: new WeakMap() }
  /** By what their scripts have in them. */
  readonly #forms = new Map<string, StraightForm>()

  constructor(programs: LuaPrograms, time: StoreTime, mostOwn: number = MOST_OWN_SCRIPTS) {
    this.#programs = programs
    this.#time = time
    this.#mostOwn = mostOwn
  }

  /** @returns `undefined` where decide.lua.ts has to decide */
  of(steps: readonly Step[], peek: boolean): StraightForm | undefined {
    if (steps.length > MOST_STEPS) return undefined
    let node = this.#root
    for (let i = 0; i < steps.length; i++) {
      const { rule } = steps[i]!
      let next = node.next.get(rule)
      if (next === undefined) {
        next = { next: new WeakMap() }
        node.next.set(rule, next)
      }
      node = next
    }
    const known = peek ? node.peek : node.charge
    if (known !== undefined) return known ?? undefined
    const form = this.#make(
      steps.map(({ rule }) => rule),
      peek,
    )
    node[peek ? 'peek' : 'charge'] = form ?? null
    return form
  }

  #make(rules: readonly Rule[], peek: boolean): StraightForm | undefined {
    const used = rules.map(({ plan }) => twins.get(plan.algorithm))
    if (!rules.every(({ block }) => block === undefined) || !used.every(keepsCells)) return undefined
    // The script holds the state of each step in variables of its own.
    const states = new Set(rules.map(({ namespace, plan }) => `${namespace} ${plan.kind}`))
    if (states.size < rules.length) return undefined
    const isOwn = this.#forms.size < this.#mostOwn
    const written = rules.map(({ plan }) => this.#programs.written(plan, this.#time.now()))
    // Who only looks decides here: the script reads, whatever the plans and roles.
    const steps = used.map((twin, i): StraightStep => {
      if (peek) return { twin, role: 'shadow', words: [] }
      const words = isOwn && twin.noWindow === undefined ? written[i]!.words : undefined
      return { twin, role: rules[i]!.role, words }
    })
    const sent = steps.flatMap(({ words }, i) => (words === undefined ? [i] : []))
    const name = JSON.stringify([peek, steps.map(({ role, words }, i) => [written[i]!.twin, role, words])])
    const known = this.#forms.get(name)
    // Rules with equal plans are sent together; not where a call brings them, for only one of each fits in.
    if (known !== undefined) return sent.length === 0 ? known : { ...known }
    if (this.#forms.size === MOST_SCRIPTS) return undefined
    const sizes = used.map(({ size = 0 }) => size)
    const isTimed = !peek && used.some(({ noWindow }) => noWindow !== undefined)
    const places = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 1))
    const end = sizes.reduce((sum, size) => sum + size, 1)
    const form = {
      script: scriptOfStraight(steps, peek),
      sizes,
      sent,
      isTimed,
      lone: {
        keys: String(sizes.length),
        length: isTimed ? end + 1 : end,
        places,
        ends: isTimed ? [end] : [],
      },
    }
    this.#forms.set(name, form)
    return form
  }
}

function keepsCells(twin: Twin | undefined): twin is Twin {
  return twin?.keeps === 'cells'
}
