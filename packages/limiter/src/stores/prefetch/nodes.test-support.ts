import { vi } from 'vitest'
import { type Policy, planOf } from '../../core/decide/algorithms.ts'
import type { Event } from '../../observe/events.ts'
import { FakeClock, type StepOptions, stepFor } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import { PrefetchStore } from '../prefetch.ts'
import type { Step, Store } from '../store.ts'

export const WINDOW = { algorithm: 'fixed-window', limit: 100, period: '1m' } as const

/** A node, and how many requests it has granted without asking. */
type CountingNode = PrefetchStore & { granted: number }

/** A shared store, what it is asked, and nodes that ask it, all at one time. */
export interface Nodes {
  readonly clock: FakeClock
  /** Behind `shared`. */
  readonly memory: MemoryStore
  readonly shared: Store<true>
  /** The cost of each question. */
  readonly asked: readonly number[]
  /** Units given back, charge by charge. */
  readonly returned: readonly number[]
  /** Monotonic milliseconds. */
  readonly now: () => number
  step(cost?: number, more?: StepOptions): Step
  nodeOf(store?: Store): CountingNode
  readonly node: CountingNode
}

export function setUp(policy: Policy = WINDOW, ahead = 20, nodes = 1): Nodes {
  const clock = new FakeClock()
  const start = clock.now()
  const memory = new MemoryStore({ clock })
  const asked: number[] = []
  const returned: number[] = []
  const shared: Store<true> = {
    async: true,
    async decide(steps, peek) {
      asked.push(steps[0]!.cost)
      return memory.decide(steps, peek)
    },
    async settle(charges, once) {
      returned.push(...charges.map(({ change }) => -change))
      return memory.settle(charges, once)
    },
    async reset(state) {
      memory.reset(state)
    },
    async block(state, ticks) {
      memory.block(state, ticks)
    },
    async close() {
      memory.close()
    },
  }
  const now = () => (clock.now() - start) / 1_000
  const plan = planOf(policy)
  const step = (cost = 1, more: StepOptions = {}): Step => stepFor(plan, { cost, prefetch: ahead, ...more })
  const nodeOf = (store: Store = shared): CountingNode => {
    const observe = (event: Event): void => {
      if (event.type === 'prefetched') node.granted++
    }
    const node: CountingNode = Object.assign(new PrefetchStore(store, { nodes, now, observe }), {
      granted: 0,
    })
    return node
  }
  return { clock, memory, shared, asked, returned, now, step, nodeOf, node: nodeOf() }
}

export const idle = async (clock: FakeClock, ms: number): Promise<void> => {
  clock.advance(ms)
  vi.advanceTimersByTime(ms)
  await settled()
}

/** Goes on when nothing is left to do at this instant. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

/** Nodes whose questions and answers take their time. */
export function distant(
  shared: Store<true>,
  clock: FakeClock,
  delay: () => number,
): { readonly store: Store<true>; advance(ms: number): Promise<void> } {
  const due: { at: number; run: () => void }[] = []
  const arrive = (): Promise<void> =>
    new Promise((run) => due.push({ at: clock.now() + delay() * 1_000, run }))
  const far =
    <A extends unknown[], T>(ask: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await arrive()
      const answer = await ask(...args)
      await arrive()
      return answer
    }
  return {
    store: {
      async: true as const,
      decide: far(shared.decide),
      settle: far(shared.settle),
      reset: far(shared.reset),
      block: far(shared.block),
      close: far(shared.close),
    },
    async advance(ms: number) {
      const end = clock.now() + ms * 1_000
      for (;;) {
        await settled()
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        due.splice(due.indexOf(next), 1)
        clock.set(Math.max(next.at, clock.now()))
        next.run()
      }
      clock.set(end)
      await settled()
    },
  }
}
