import { LoadedStates, statesOf } from '../../core/decide/loaded-states.ts'
import { correct, run, type States } from '../../core/decide/run.ts'
import { StoreError } from '../../core/errors.ts'
import type { Charge, Once, Outcome, StateName, Step } from '../store.ts'
import { callOf } from './call.ts'
import type { Names } from './names.ts'
import type { ScriptRunner } from './runner.ts'
import { type Script, scriptToRead, scriptToSwap } from './script.ts'
import type { StoreTime } from './store-time.ts'

/** Most rounds of one request: each time one fails, another request of the same key has succeeded. */
const MOST_ROUNDS = 100
const SPENT = -1
/** A state without an end: 2^53−1 microseconds is the year 2255. */
const LAST = Number.MAX_SAFE_INTEGER

/**
 * Decides by algorithms that have no twin in Lua: reads the states, decides here, and writes where nothing has changed
 * meanwhile, else begins again. Two trips at least, and more where many ask for one key at once. Requests of this
 * process that share a key wait for each other, so only other processes can be in the way.
 */
export class StatesBySwap {
  readonly #runner: ScriptRunner
  readonly #names: Names
  readonly #time: StoreTime
  readonly #read: Script = scriptToRead()
  readonly #swap: Script = scriptToSwap()
  /** The last request under way of each key. */
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(runner: ScriptRunner, names: Names, time: StoreTime) {
    this.#runner = runner
    this.#names = names
    this.#time = time
  }

  decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    return this.#inTurn(steps, async () => {
      const outcome = await this.#swapped(steps, undefined, '', (states, at) => run(steps, states, at, peek))
      return outcome!
    })
  }

  /** @param onceName the name of what remembers `once` */
  settle(charges: readonly Charge[], once: Once | undefined, onceName: string): Promise<boolean> {
    const steps = charges.map(({ step }) => step)
    return this.#inTurn(steps, async () => {
      const settled = await this.#swapped(steps, once, onceName, (states, at) => {
        correct(charges, states, at)
        return true
      })
      return settled !== undefined
    })
  }

  /** @returns what `decide` returned; `undefined` where `once` was spent or is over */
  async #swapped<T>(
    steps: readonly StateName[],
    once: Once | undefined,
    onceName: string,
    decide: (states: States, at: number) => T,
  ): Promise<T | undefined> {
    const refs = statesOf(steps)
    const names = refs.map(({ namespace, plan, key }) => this.#names.one(namespace, plan.kind, key))
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const call = callOf(this.#read, names, [this.#time.word()])
      const [time, ...texts] = await this.#runner.texts(call, names.length + 1)
      const at = Number(time)
      this.#time.sync(at)
      const states = new LoadedStates(refs, texts.map(integersOf))
      const result = decide(states, at)
      const changes = states.changed().flatMap(({ index, cells, expiresAt }) => {
        const till = Number.isSafeInteger(expiresAt) ? expiresAt : LAST
        return [String(index + 1), [...cells].join(' '), String(till)]
      })
      if (changes.length === 0 && once === undefined) return result
      const keys = once === undefined ? names : [...names, onceName]
      const over = once === undefined ? '' : String(once.until)
      const words = [this.#time.word(), over, ...texts, ...changes]
      const [, done] = await this.#runner.run(callOf(this.#swap, keys, words), 2)
      if (done === SPENT) return undefined
      if (done === 1) return result
    }
    throw new StoreError(`a state changed ${MOST_ROUNDS} times while one request was decided`)
  }

  async #inTurn<T>(steps: readonly StateName[], go: () => Promise<T>): Promise<T> {
    const key = steps[0]?.key ?? ''
    const before = this.#queues.get(key) ?? Promise.resolve()
    const own = before.then(go, go)
    this.#queues.set(key, own)
    try {
      return await own
    } finally {
      if (this.#queues.get(key) === own) this.#queues.delete(key)
    }
  }
}

function integersOf(text: string): readonly number[] | undefined {
  return text === '' ? undefined : text.split(' ').map(Number)
}
