import { describe, expect, it } from 'vitest'
import { seededRandom } from './fake-time.test-support.ts'
import { RetryBudget } from './retry-budget.ts'

const MINUTE = 60_000

function takeAll(budget: RetryBudget, nowMs: number): number {
  let taken = 0
  while (budget.take(nowMs)) taken++
  return taken
}

describe('Acceptance 4.6: the budget of retries', () => {
  it('has ten a minute for those whose calls all fail', () => {
    const budget = new RetryBudget({}, 0)
    expect(takeAll(budget, 0)).toBe(10)
    expect([takeAll(budget, 5_999), takeAll(budget, 6_000), takeAll(budget, 12_000)]).toEqual([0, 1, 1])
    expect(takeAll(budget, 12_000 + 60 * MINUTE)).toBe(10)
  })

  it('has one more for ten successes, and saves up to a hundred', () => {
    const budget = new RetryBudget({ perMinute: 0 }, 0)
    for (let i = 0; i < 9; i++) budget.succeed()
    expect(budget.left(0)).toBe(0)
    budget.succeed()
    expect([budget.left(0), takeAll(budget, 0)]).toEqual([1, 1])
    for (let i = 0; i < 1_000_000; i++) budget.succeed()
    expect(takeAll(budget, 0)).toBe(100)
  })

  it('is never more than a tenth of the calls and ten a minute, in any order', () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = seededRandom(seed)
      const share = random()
      const budget = new RetryBudget({}, 0)
      let [now, calls, retries] = [0, 0, 0]
      for (let step = 0; step < 5_000; step++) {
        now += random() * 200
        calls++
        if (random() < share) budget.succeed()
        else while (random() < 0.9 && budget.take(now)) retries++
        if (retries > 0.1 * calls + 10 + (10 * now) / MINUTE + 1e-6) expect.fail(`${retries} of ${calls}`)
      }
    }
  })

  it('does not grow when the clock steps back', () => {
    const budget = new RetryBudget({}, MINUTE)
    takeAll(budget, MINUTE)
    expect([takeAll(budget, 0), takeAll(budget, MINUTE), takeAll(budget, MINUTE + 6_000)]).toEqual([0, 0, 1])
  })
})
