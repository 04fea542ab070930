import { type AlgorithmName, algorithms } from '@sluice/limiter/algorithms'
import { type KeyArrivals, peaksOf, totalCost } from './arrivals.ts'
import { type Choice, planFor } from './frontier.ts'
import type { Habits } from './habits.ts'
import { lawKindOf, lawOf } from './laws.ts'
import type { KeyAbove } from './suggestion.ts'
import { Trial } from './trial.ts'

const MOST = 10
const MINUTE = 60_000_000

/** The keys that a choice refuses, most refused first: what would have served them, and how they behave. */
export function keysAbove(
  arrivals: KeyArrivals,
  names: readonly string[],
  habits: Habits,
  name: AlgorithmName,
  choice: Choice,
): KeyAbove[] {
  const refused: { readonly key: number; readonly times: number }[] = []
  const kind = lawKindOf(algorithms[name], arrivals.duration !== undefined)
  const trial = new Trial(lawOf(kind, planFor(algorithms[name], choice)), arrivals)
  for (let key = 0, before = 0; key < arrivals.keys; key++, before = trial.denied.requests) {
    trial.run(key)
    if (trial.denied.requests > before) refused.push({ key, times: trial.denied.requests - before })
  }
  refused.sort((a, b) => b.times - a.times || (names[a.key]! < names[b.key]! ? -1 : 1))
  return refused.slice(0, MOST).map(({ key, times }) => {
    const own = arrivalsOf(arrivals, key)
    return {
      key: names[key]!,
      requests: own.count,
      denied: times,
      peakMinute: peaksOf(own, MINUTE)[0]!,
      servedBy: servingLimit(own, name, choice),
      reasons: habits.reasons(key, arrivals),
    }
  })
}

/** One key alone. */
function arrivalsOf({ ends, at, duration, cost }: KeyArrivals, key: number): KeyArrivals {
  const [from, to] = [ends[key]!, ends[key + 1]!]
  return {
    keys: 1,
    count: to - from,
    ends: Int32Array.of(0, to - from),
    at: at.subarray(from, to),
    duration: duration?.subarray(from, to),
    cost: cost?.subarray(from, to),
    seconds: [],
  }
}

/** The smallest limit that refuses the key nothing; a burst grows with it where it must. */
function servingLimit(own: KeyArrivals, name: AlgorithmName, choice: Choice): number {
  const kind = lawKindOf(algorithms[name], own.duration !== undefined)
  const serves = (limit: number): boolean => {
    const burst = choice.burst === undefined ? undefined : Math.max(choice.burst, limit)
    const trial = new Trial(
      lawOf(kind, planFor(algorithms[name], { ...choice, limit, ...(burst !== undefined && { burst }) })),
      own,
    )
    trial.run(0, 0)
    return trial.denied.requests === 0
  }
  let [over, within] = [choice.limit, totalCost(own)]
  while (within - over > 1) {
    const middle = Math.floor((over + within) / 2)
    if (serves(middle)) within = middle
    else over = middle
  }
  return within
}
