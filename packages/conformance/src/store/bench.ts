import { randomUUID } from 'node:crypto'
import {
  type AlgorithmName,
  algorithms,
  type Figures,
  type Plan,
  type Policy,
  planOf,
} from '@sluice/limiter/algorithms'
import type { Outcome, Step } from '@sluice/limiter/decide'
import type { Store } from '@sluice/limiter/stores/store'
import { FakeClock, type StepOptions, stepFor } from '@sluice/limiter/testing'
import type { Runner } from '../runner.ts'
import { variantsOf } from '../variants.ts'

/** Makes the store under test, keeping the time of `clock` in place of its own. */
export type MakeStore<S extends Store> = (clock: FakeClock) => S | Promise<S>

/** A fresh store, its clock, and steps in a namespace of this test's own. */
export interface StoreBench<S extends Store = Store> {
  readonly store: S
  /** Begins at a whole minute, ten seconds, second… of every period used here. */
  readonly clock: FakeClock
  /** A step of cost 1 for `key` `k`, enforced, by a policy of the given name. */
  step(name: string, plan: Plan, more?: StepOptions): Step
  decide(...steps: Step[]): Promise<Outcome>
  /** Decides on one step. */
  ask(step: Step, cost?: number): Promise<Figures>
  /** Looks at one step, at a cost of 1 unless given. */
  peek(step: Step, cost?: number): Promise<Figures>
}

/** What a store must show, by name. */
export type Tests<S extends Store = Store> = Readonly<Record<string, (bench: StoreBench<S>) => Promise<void>>>

/** Declares tests, each with a bench of its own, whose store is closed at the end. */
export function declare<S extends Store>({ it }: Runner, make: MakeStore<S>, tests: Tests<S>): void {
  for (const [name, body] of Object.entries(tests)) {
    it(name, async () => {
      const clock = new FakeClock()
      const store = await make(clock)
      try {
        await body(storeBenchOf(store, clock))
      } finally {
        await store.close()
      }
    })
  }
}

function storeBenchOf<S extends Store>(store: S, clock: FakeClock): StoreBench<S> {
  const namespace = randomUUID()
  const one = async (step: Step, peek: boolean): Promise<Figures> => {
    const figures = (await store.decide([step], peek)).figures[0]!
    if (figures.remaining === null) throw new Error('a store that answers knows what remains')
    return figures as Figures
  }
  return {
    store,
    clock,
    step: (name, plan, more) => stepFor(plan, { name, namespace: `${namespace}/${name}`, ...more }),
    decide: async (...steps) => store.decide(steps, false),
    ask: (step, cost = step.cost) => one({ ...step, cost }, false),
    peek: (step, cost = step.cost) => one({ ...step, cost }, true),
  }
}

/** Ten per ten seconds, by any algorithm: one unit a second where they flow. */
export function tenPerTen(algorithm: AlgorithmName, more?: Partial<Policy>): Plan {
  return planOf({ algorithm, limit: 10, period: '10s', ...more })
}

/** So many per minute in fixed windows: the plainest algorithm there is. */
export function perMinute(limit: number): Plan {
  return planOf({ algorithm: 'fixed-window', limit, period: '1m' })
}

/** Ten per ten seconds by each algorithm that flows or counts, with each of its choices, under its name. */
export const PLANS: readonly (readonly [name: string, plan: Plan])[] = variantsOf(
  (name) => !algorithms[name].traits.holds,
).map(({ name, policy }) => [name, tenPerTen(policy.algorithm, policy)])
