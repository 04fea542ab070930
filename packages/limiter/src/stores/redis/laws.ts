import type { Plan } from '../../core/decide/algorithm.ts'
import type { Twin } from '../../core/decide/twin.ts'
import { twins } from '../../core/decide/twins.ts'
import { ConfigError } from '../../core/errors.ts'
import { type Script, scriptOf, scriptOfOne, type Task } from './script.ts'

/** A plan as scripts read it. */
export interface Written {
  /** The number of its law, from 1. */
  readonly law: number
  readonly words: readonly string[]
  /** It holds while the time lies from `from` up to `to`, in microseconds. */
  readonly from: number
  readonly to: number
}

/** Writes plans down, and knows the scripts for their laws. Each is made once. */
export class Laws {
  readonly #twins: readonly Twin[] = [...new Set(twins.values())]
  readonly #written = new WeakMap<Plan, Written>()
  readonly #scripts = new Map<string, Script>()

  /** @throws ConfigError for a plan whose algorithm has no twin */
  check({ algorithm }: Plan): void {
    if (!twins.has(algorithm)) {
      throw new ConfigError(`${algorithm.name} has no law in Lua, so Redis cannot decide by it`)
    }
  }

  namesLeases({ algorithm }: Plan): boolean {
    return twins.get(algorithm)!.keeps === 'leases'
  }

  /** @param now microseconds */
  written(plan: Plan, now: number): Written {
    const known = this.#written.get(plan)
    if (known !== undefined && known.from <= now && now < known.to) return known
    const written = this.#write(plan, now)
    this.#written.set(plan, written)
    return written
  }

  /** @param laws their numbers, as bits */
  script(task: Task, laws: number): Script {
    return this.#script(`${task} ${laws}`, () => {
      const used = this.#twins.map((twin, i) => [i + 1, twin] as const).filter(([law]) => laws & (1 << law))
      return scriptOf(task, new Map(used))
    })
  }

  /** The script that decides a request of one step. */
  scriptOfOne(law: number): Script {
    return this.#script(`one ${law}`, () => scriptOfOne(this.#twins[law - 1]!))
  }

  #script(name: string, make: () => Script): Script {
    const known = this.#scripts.get(name)
    if (known !== undefined) return known
    const script = make()
    this.#scripts.set(name, script)
    return script
  }

  #write(plan: Plan, now: number): Written {
    const twin = twins.get(plan.algorithm)!
    const extras = twin.extras?.(plan, now) ?? []
    const { capacity, limit, period, unit, ceiling } = plan
    const timed = twin.lost !== undefined
    return {
      law: this.#twins.indexOf(twin) + 1,
      words: [capacity, limit, period, unit, ceiling, ...extras].map(String),
      from: timed ? extras[2]! : Number.NEGATIVE_INFINITY,
      to: timed ? extras[3]! : Number.POSITIVE_INFINITY,
    }
  }
}
