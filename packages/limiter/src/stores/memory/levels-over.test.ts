import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { Keeps } from './state-table.ts'

it('a level is over by one product exactly when it is by the figures', () => {
  const policy = fc.record({
    algorithm: fc.constantFrom('gcra' as const, 'token-bucket' as const),
    limit: fc.integer({ min: 0, max: 1_000 }),
    burst: fc.integer({ min: 1, max: 100_000 }),
    period: fc.constantFrom('1s', '7s', '1h'),
  })
  const property = fc.property(
    policy,
    fc.option(policy),
    fc.nat(200_000),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    fc.integer({ min: -2_000, max: 2_000 }),
    (first, second, whole, part, near) => {
      const plan = planOf(first)
      const keeps = new Keeps(plan)
      const other = second && planOf({ ...second, period: first.period })
      if (other?.kind === plan.kind) keeps.use(other)
      expect(keeps.comparesLevels).toBe(true)
      const last = 1_700_000_000_000_000
      const cells = Float64Array.from([last, whole, Math.floor(part * plan.period)])
      const level = whole * plan.period + cells[2]!
      const limits = [plan.limit, other?.limit ?? plan.limit].filter((limit) => limit > 0)
      for (const limit of [1, ...limits]) {
        for (const now of [
          last + near,
          last + Math.ceil(level / limit) + near,
          last + Math.floor(level / limit),
        ])
          expect(keeps.isLevelOver(last, level, now)).toBe(keeps.isOver(cells, 0, now))
      }
    },
  )
  fc.assert(property, { numRuns: 500 })
})
