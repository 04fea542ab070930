import type { Plan } from '../../core/decide/algorithm.ts'
import type { Step } from '../../core/decide/step.ts'
import type { Laws } from './laws.ts'
import type { Script } from './script.ts'

const ROLES = { enforce: 0, quota: 1, shadow: 2, guard: 3 } as const
const PEEK = 4
const PHASED = 8

interface Part {
  readonly plan: Plan
  readonly mode: number
  readonly back: number
}

/** One call of a script while it is put together: its keys and parts, each said once, and what refers to them. */
export class Call {
  readonly #laws: Laws
  readonly #now: number
  readonly #keys = new Map<string, number>()
  readonly #parts: Part[] = []
  readonly #partWords: string[] = []
  #used = 0

  /** @param now what the caller takes for the store's time, in microseconds: only calendars ask */
  constructor(laws: Laws, now: number) {
    this.#laws = laws
    this.#now = now
  }

  get keys(): number {
    return this.#keys.size
  }

  key(name: string): number {
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    this.#keys.set(name, this.#keys.size)
    return this.#keys.size - 1
  }

  /** The number of a step's part. `index`: its place in the request. */
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
    this.#partWords.push(String(law), String(mode), String(back), ...words)
    return parts.push({ plan, mode, back }) - 1
  }

  /** The number of parts so far: what refers to a key and a part is a number to this base. */
  get parts(): number {
    return this.#parts.length
  }

  script(task: 'decide' | 'settle'): Script {
    return this.#laws.script(task, this.#used)
  }

  /** The arguments of EVAL and EVALSHA after the script. `clock`: the time that stands in for the server's. */
  args(clock: number | undefined, rest: readonly string[]): string[] {
    return [
      String(this.#keys.size),
      ...this.#keys.keys(),
      clock === undefined ? '' : String(clock),
      String(this.#parts.length),
      ...this.#partWords,
      ...rest,
    ]
  }
}
