import type { Plan } from '../../core/decide/algorithm.ts'
import type { Twin } from '../../core/decide/twin.ts'
import { twins } from '../../core/decide/twins.ts'
import { ConfigError } from '../../core/errors.ts'
import { type Script, scriptOf, scriptOfOne } from './script.ts'

/** A plan as scripts are told of it. */
export interface Written {
  /** The number of its law, from 1. */
  readonly law: number
  readonly words: readonly string[]
  /** The plan's integers depend on the time, and hold while it lies from `from` up to `to`. */
  readonly from: number
  readonly to: number
}

/** Writes plans down, and knows the scripts for the laws they obey. Both are made once. */
export class Laws {
  readonly #twins: readonly Twin[] = [...new Set(twins.values())]
  readonly #written = new WeakMap<Plan, Written>()
  readonly #scripts = { decide: new Map<number, Script>(), settle: new Map<number, Script>() }
  readonly #ones = new Map<number, Script>()

  /** @param now microseconds. @throws ConfigError for an algorithm that has no twin */
  written(plan: Plan, now: number): Written {
    const known = this.#written.get(plan)
    if (known !== undefined && known.from <= now && now < known.to) return known
    const written = this.#write(plan, now)
    this.#written.set(plan, written)
    return written
  }

  /** @param laws their numbers, as bits */
  script(task: 'decide' | 'settle', laws: number): Script {
    const scripts = this.#scripts[task]
    let script = scripts.get(laws)
    if (script === undefined) {
      const used = this.#twins.flatMap((twin, i) => (laws & (1 << (i + 1)) ? ([[i + 1, twin]] as const) : []))
      script = scriptOf(task, new Map(used))
      scripts.set(laws, script)
    }
    return script
  }

  /** The script that decides a request of one step. @param law its number */
  scriptOfOne(law: number): Script {
    let script = this.#ones.get(law)
    if (script === undefined) {
      script = scriptOfOne(this.#twins[law - 1]!)
      this.#ones.set(law, script)
    }
    return script
  }

  #write(plan: Plan, now: number): Written {
    const twin = twins.get(plan.algorithm)
    if (twin === undefined) throw new ConfigError(`${plan.algorithm.name} has no law in Lua, so Redis cannot keep it`)
    const extras = twin.extras?.(plan, now) ?? []
    const { capacity, limit, period, unit, ceiling } = plan
    return {
      law: this.#twins.indexOf(twin) + 1,
      words: [capacity, limit, period, unit, ceiling, ...extras].map(String),
      from: twin.lost === undefined ? Number.NEGATIVE_INFINITY : extras[2]!,
      to: twin.lost === undefined ? Number.POSITIVE_INFINITY : extras[3]!,
    }
  }
}
