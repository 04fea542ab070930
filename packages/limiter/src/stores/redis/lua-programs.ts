import type { Plan } from '../../core/decide/algorithm.ts'
import type { Twin } from '../../core/decide/twin.ts'
import { twins } from '../../core/decide/twins.ts'
import { type Script, scriptOf, scriptOfBlock, scriptOfOne, type Task } from './script.ts'

/** A plan as scripts read it. */
export interface WrittenPlan {
  /** The number of its twin, from 1. */
  readonly twin: number
  readonly words: readonly string[]
  /** As `scriptOfOne`, without being sent the words. */
  readonly own: Script | undefined
  /** It holds while the time is from `from` up to `to`, in microseconds. */
  readonly from: number
  readonly to: number
}

/** Plans that get a script of their own, as in straight-forms.ts. */
const MOST_OWN_SCRIPTS = 64

/** Writes plans down for scripts, and knows the scripts for their twins. Each is made once. */
export class LuaPrograms {
  readonly #twins: readonly Twin[] = [...new Set(twins.values())]
  readonly #written = new WeakMap<Plan, WrittenPlan>()
  readonly #scripts = new Map<string, Script>()
  readonly #ownScripts = new Map<string, Script>()

  /** Whether scripts can decide by the plan's algorithm. Where they cannot, states are swapped (states-by-swap.ts). */
  has({ algorithm }: Plan): boolean {
    return twins.has(algorithm)
  }

  /** Whether states of this plan are a log or slots. */
  isLong({ algorithm }: Plan): boolean {
    return twins.get(algorithm)!.keeps !== 'cells'
  }

  /** Whether a step of this plan carries its charge's id. */
  namesCharges({ algorithm }: Plan): boolean {
    return twins.get(algorithm)!.keeps === 'slots'
  }

  /** @param now microseconds */
  written(plan: Plan, now: number): WrittenPlan {
    const known = this.#written.get(plan)
    if (known !== undefined && known.from <= now && now < known.to) return known
    const written = this.#write(plan, now)
    this.#written.set(plan, written)
    return written
  }

  /** @param needs a sum of 2^n for each twin of number n, and of 2^0 where a rule can block */
  script(task: Task, needs: number): Script {
    return this.#script(`${task} ${needs}`, () => {
      const used = this.#twins
        .map((twin, i) => [i + 1, twin] as const)
        .filter(([number]) => isIn(needs, number))
      return scriptOf(task, new Map(used), isIn(needs, 0))
    })
  }

  /** The script that decides a request of one step without a block, of a log or of slots. */
  scriptOfOne(twin: number): Script {
    return this.#script(`one ${twin}`, () => scriptOfOne(this.#twins[twin - 1]!))
  }

  scriptOfBlock(): Script {
    return this.#script('block', scriptOfBlock)
  }

  #script(name: string, make: () => Script): Script {
    const known = this.#scripts.get(name)
    if (known !== undefined) return known
    const script = make()
    this.#scripts.set(name, script)
    return script
  }

  #ownScript(twin: Twin, words: readonly string[]): Script | undefined {
    const name = `${this.#twins.indexOf(twin)} ${words.join(' ')}`
    const known = this.#ownScripts.get(name)
    if (known !== undefined || this.#ownScripts.size === MOST_OWN_SCRIPTS) return known
    const script = scriptOfOne(twin, words)
    this.#ownScripts.set(name, script)
    return script
  }

  #write(plan: Plan, now: number): WrittenPlan {
    const twin = twins.get(plan.algorithm)!
    const extras = twin.extras?.(plan, now) ?? []
    const { capacity, limit, period, unit, ceiling } = plan
    const timed = twin.noWindow !== undefined
    const words = [capacity, limit, period, unit, ceiling, ...extras].map(String)
    return {
      twin: this.#twins.indexOf(twin) + 1,
      words,
      own: twin.keeps === 'cells' ? undefined : this.#ownScript(twin, words),
      from: timed ? extras[2]! : Number.NEGATIVE_INFINITY,
      to: timed ? extras[3]! : Number.POSITIVE_INFINITY,
    }
  }
}

/** Adds 2^n to a sum of powers of two, unless it is in it. By arithmetic: bits end at 31, doubles at 53. */
export function withPower(sum: number, n: number): number {
  return isIn(sum, n) ? sum : sum + 2 ** n
}

function isIn(sum: number, n: number): boolean {
  return Math.floor(sum / 2 ** n) % 2 === 1
}
