import { storeSuite } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { FakeClock, stepFor } from '../../testing.ts'
import { MapStore } from './map-store.test-support.ts'
import { Rows, SwapStore } from './swap-store.test-support.ts'

storeSuite({ describe, it }, 'a store over a Map', (clock) => new MapStore(clock))
storeSuite({ describe, it }, 'a store over compare-and-swap', (clock) => new SwapStore(clock))

describe('several processes over one compare-and-swap', () => {
  it('admit together no more than the limit, by any algorithm', async () => {
    for (const algorithm of ['token-bucket', 'sliding-window-log', 'concurrency'] as const) {
      const clock = new FakeClock()
      const rows = new Rows()
      const stores = Array.from({ length: 5 }, () => new SwapStore(clock, rows))
      const step = stepFor(planOf({ algorithm, limit: 13, period: '1m' }))
      const asked = Array.from({ length: 50 }, (_, i) =>
        stores[i % 5]!.decide([{ ...step, chargeId: i + 1 }], false),
      )
      const outcomes = await Promise.all(asked)
      expect(outcomes.filter(({ allowed }) => allowed)).toHaveLength(13)
    }
  })
})
