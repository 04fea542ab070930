import type { Clock } from '../../clock.ts'
import { LoadedStates, type StateRef, statesOf } from '../../core/decide/loaded-states.ts'
import { block, type Charge, correct, run, type States } from '../../core/decide/run.ts'
import type { Once, Outcome, StateName, Step, Store } from '../store.ts'

/** A database that can only read rows, and write them where their versions are as they were read. */
export class Rows {
  readonly #rows = new Map<string, { readonly version: number; readonly value: string }>()

  async read(names: readonly string[]): Promise<{ version: number; value: string }[]> {
    await Promise.resolve()
    return names.map((name) => this.#rows.get(name) ?? { version: 0, value: '' })
  }

  /** All or nothing. */
  async write(
    rows: readonly { readonly name: string; readonly version: number; readonly value: string }[],
  ): Promise<boolean> {
    await Promise.resolve()
    if (rows.some(({ name, version }) => (this.#rows.get(name)?.version ?? 0) !== version)) return false
    for (const { name, version, value } of rows) this.#rows.set(name, { version: version + 1, value })
    return true
  }
}

/** A store over compare-and-swap alone: any algorithm runs on it, and no row needs to know which. */
export class SwapStore implements Store<true> {
  readonly async = true as const
  readonly #clock: Clock
  readonly #rows: Rows

  constructor(clock: Clock, rows: Rows = new Rows()) {
    this.#clock = clock
    this.#rows = rows
  }

  decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    return this.#swap(steps, (states, at) => run(steps, states, at, peek)) as Promise<Outcome>
  }

  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    const steps = charges.map(({ step }) => step)
    const done = await this.#swap(steps, (states, at) => correct(charges, states, at) ?? true, once)
    return done === true
  }

  async reset(state: StateName): Promise<void> {
    const names = statesOf([state]).map(nameOf)
    const rows = await this.#rows.read(names)
    const written = names.map((name, i) => ({ name, version: rows[i]!.version, value: '' }))
    if (!(await this.#rows.write(written))) await this.reset(state)
  }

  async block(state: StateName, ticks: number): Promise<void> {
    await this.#swap([state], (states, at) => block(state, ticks, states, at))
  }

  async close(): Promise<void> {}

  /** Again until no other request has been in between. `undefined` where `once` is spent or over. */
  async #swap<T>(
    steps: readonly StateName[],
    go: (states: States, at: number) => T,
    once?: Once,
  ): Promise<T | undefined> {
    const refs = statesOf(steps)
    const names = [...refs.map(nameOf), ...(once === undefined ? [] : [`once ${once.id}`])]
    for (;;) {
      const rows = await this.#rows.read(names)
      const at = this.#clock.now()
      if (once !== undefined && (at >= once.until || rows.at(-1)!.value !== '')) return undefined
      const states = new LoadedStates(
        refs,
        rows.slice(0, refs.length).map(({ value }) => (value === '' ? undefined : JSON.parse(value))),
      )
      const result = go(states, at)
      const written = rows.map(({ version, value }, i) => ({ name: names[i]!, version, value }))
      const changes = states.changed()
      for (const { index, cells } of changes) written[index]!.value = JSON.stringify([...cells])
      if (once !== undefined) written.at(-1)!.value = 'spent'
      const changed = changes.length > 0 || once !== undefined
      if (!changed || (await this.#rows.write(written))) return result
    }
  }
}

function nameOf({ namespace, plan, key }: StateRef): string {
  return JSON.stringify([namespace, plan.kind, key])
}
