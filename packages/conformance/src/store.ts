import { equal } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import type { Store } from '@sluice/limiter/stores/store'
import { runVectors } from './run-vectors.ts'
import type { Runner } from './runner.ts'
import { declare, type MakeStore } from './store/bench.ts'
import { requests } from './store/requests.ts'
import { settlements } from './store/settlements.ts'
import { drops, states } from './store/states.ts'
import { parseVectors } from './vectors.ts'

export type { MakeStore }

const VECTORS = new URL('../vectors/', import.meta.url)

/**
 * What every store must show, decorators of stores included: requests, corrections, states, and every vector.
 * @param make a store with nothing in it, keeping the time of the clock it is given in place of its own
 * @param count states held now, of a store that can count them: then it must also delete them in time
 * @example
 * storeSuite({ describe, it }, 'my store', (clock) => new MyStore({ clock }))
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
    for (const file of readdirSync(VECTORS)) {
      const test = async (): Promise<void> => {
        const vectors = parseVectors(readFileSync(new URL(file, VECTORS), 'utf8'))
        const { passed, failed, differences } = await runVectors(vectors, make)
        equal(failed, 0, JSON.stringify(differences[0]))
        equal(passed > 0, true)
      }
      runner.it(`passes the vectors of ${file}`, test, 600_000)
    }
  })
}
