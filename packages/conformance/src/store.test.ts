import { MemoryStore } from '@sluice/limiter/stores/memory'
import type { Store } from '@sluice/limiter/stores/store'
import { describe, expect, it } from 'vitest'
import { storeSuite } from './store.ts'

storeSuite(
  { describe, it },
  'the memory store',
  (clock) => new MemoryStore({ clock }),
  (store) => store.size,
)

/** The tests that a store fails. */
async function failures(spoil: (store: MemoryStore) => Partial<Store>): Promise<string[]> {
  const failed: string[] = []
  const runs: Promise<void>[] = []
  storeSuite(
    {
      describe: (_name, body) => body(),
      it(name, body) {
        runs.push(Promise.resolve(body()).catch(() => void failed.push(name)))
      },
    },
    'a spoilt store',
    (clock) => {
      const store = new MemoryStore({ clock })
      return {
        decide: (steps, peek) => store.decide(steps, peek),
        settle: (charges, once) => store.settle(charges, once),
        reset: (state) => store.reset(state),
        block: (state, ticks) => store.block(state, ticks),
        close: () => store.close(),
        ...spoil(store),
      } as Store
    },
  )
  await Promise.all(runs)
  return failed
}

describe('the store suite', () => {
  it('passes a store that only wraps another', async () => {
    expect(await failures(() => ({}))).toEqual([])
  })

  it('finds out a store that charges where it should look', async () => {
    const failed = await failures((store) => ({ decide: (steps) => store.decide(steps, false) }))
    expect(failed).toContain('writes nothing when it only looks')
  })

  it('finds out a store that takes one key for another', async () => {
    const failed = await failures((store) => ({
      decide: (steps, peek) =>
        store.decide(
          steps.map((step) => ({ ...step, key: Buffer.from(step.key).toString('latin1') })),
          peek,
        ),
    }))
    expect(failed).toContain('keeps all keys apart, whatever is in them')
  })

  it('finds out a store that settles twice', async () => {
    const failed = await failures((store) => ({ settle: (charges) => store.settle(charges) }))
    expect(failed).toContain('settles once under one id, and at no time after it is over')
  })
})
