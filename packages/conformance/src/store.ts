import type { Store } from '@sluice/limiter/stores/store'
import type { Runner } from './runner.ts'
import { declare, type MakeStore } from './store/bench.ts'
import { requests } from './store/requests.ts'
import { settlements } from './store/settlements.ts'
import { drops, states } from './store/states.ts'

export type { MakeStore }

/**
 * What every store must show.
 * @param make a store with nothing in it, keeping the time of the clock it is given in place of its own
 * @param count states held now, of a store that can tell: then it is also held to dropping them in time
 */
export function storeSuite<S extends Store>(
  runner: Runner,
  name: string,
  make: MakeStore<S>,
  count?: (store: S) => number | Promise<number>,
): void {
  runner.describe(`${name}, as any store`, () => {
    const tests = { ...requests, ...settlements, ...states, ...(count && drops(count)) }
    declare(runner, make, tests)
  })
}
