import { expect, it } from 'vitest'
import { Demand } from './demand.ts'

it('is unknown in the first report of a new bucket, and known after the next', () => {
  const demand = new Demand(0, 1, 0)
  expect(demand.perSecond).toBeUndefined()
  demand.report(5_000, 400)
  expect(demand.perSecond).toBe(80)
})

it('is known at once where a bucket has been there for some time', () => {
  expect(new Demand(0, 100, 5_000).perSecond).toBe(20)
})

it('forgets older reports: two later ones count for nine tenths', () => {
  const demand = new Demand(0, 500, 5_000)
  demand.report(5_000, 0)
  expect(demand.perSecond).toBeCloseTo(31.5, 1)
  demand.report(10_000, 0)
  expect(demand.perSecond).toBeCloseTo(9.9, 1)
})

it('counts reports together that come at almost the same time', () => {
  const demand = new Demand(0, 1, 0)
  demand.report(1, 5)
  expect(demand.perSecond).toBeUndefined()
  demand.report(5_000, 20)
  expect(demand.perSecond).toBe(5)
})

it.each([Number.NaN, -5, Number.POSITIVE_INFINITY, 2 ** 64])(
  'stays a number where a proxy sends %d',
  (requests) => {
    const demand = new Demand(0, requests, 1_000)
    demand.report(5_000, requests)
    expect(demand.perSecond).toBeGreaterThanOrEqual(0)
    expect(demand.perSecond).toBeLessThanOrEqual(1e12)
  },
)
