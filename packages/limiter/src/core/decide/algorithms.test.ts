import { replay, stateUnderTest, workedExample } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { type AlgorithmName, algorithms, type Policy, planOf } from './algorithms.ts'

const AT = 1_767_225_600_000_000
const names = Object.keys(algorithms) as AlgorithmName[]

describe.each(names)('%s', (algorithm) => {
  it.each([
    [300, '3h'],
    [5, 'week'],
    [150, 'day'],
    [1_000, '90ms'],
    [7, '365d'],
  ])('keeps %d per %s', (limit, period) => {
    const told = replay({ algorithm, limit, period }, [[0, limit], [0]])
    expect(told[0]).toMatch(/^0 left/)
    expect(told[1]).toMatch(/^wait [\d.]+ ms$/)
  })

  it('takes nothing for what it refuses, nor for what can never pass (T01, T02, T03)', () => {
    const told = replay({ algorithm, limit: 10, period: '1m' }, [
      [0, 11],
      [0, 8],
      [0, 5],
      [0, 2],
    ])
    expect(told.map((each) => each.split(/[ ,]/)[0])).toEqual(['never', '2', 'wait', '0'])
  })

  it('holds what was used against a changed limit (FB-084)', () => {
    const left = (before: number, used: number, after: number): number => {
      const state = stateUnderTest(planOf({ algorithm, limit: before, period: '1m' }))
      state.decide(AT, used, 1)
      const plan = planOf({ algorithm, limit: after, period: '1m' })
      return Math.max(0, plan.algorithm.remaining(plan, state.cells, 0, AT, AT))
    }
    expect([left(15, 15, 20), left(20, 15, 10), left(5_000_000, 35, 10), left(10, 4, 0)]).toEqual([
      5, 0, 0, 0,
    ])
  })

  it('of limit 0 refuses everything, for ever, and lets a look pass', () => {
    workedExample({ algorithm, limit: 0, period: '1m' }, [
      [0, 1, 'never'],
      [0, 0, '0 left'],
      [1e9, 1, 'never'],
    ])
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '10', null, undefined])(
    'is not built with a limit of %s (T66)',
    (limit) => {
      expect(() => planOf({ algorithm, limit, period: '1s' } as Policy)).toThrow(ConfigError)
    },
  )

  it.each([0, -1, 0.000_999, Number.NaN, Number.POSITIVE_INFINITY, '', '0s', '1 fortnight', undefined])(
    'is not built with a period of %s, and never cuts one to nothing (FB-022, T28)',
    (period) => {
      expect(() => planOf({ algorithm, limit: 1, period } as Policy)).toThrow(ConfigError)
    },
  )
})

describe('a policy', () => {
  it('names an algorithm that there is', () => {
    for (const algorithm of ['tokenbucket', '__proto__', 'constructor', '', undefined]) {
      expect(() => planOf({ algorithm, limit: 1, period: '1s' } as unknown as Policy)).toThrow(ConfigError)
    }
  })

  it.each([
    { algorithm: 'fixed-window', burst: 2 },
    { algorithm: 'sliding-window-log', burst: 2 },
    { algorithm: 'sliding-window-counter', burst: 2 },
    { algorithm: 'concurrency', burst: 2 },
    { algorithm: 'gcra', refill: 'interval' },
    { algorithm: 'leaky-bucket', refill: 'interval' },
    { algorithm: 'token-bucket', rounding: 'up' },
    { algorithm: 'token-bucket', burst: 0 },
    { algorithm: 'token-bucket', refill: 'sometimes' },
    { algorithm: 'sliding-window-counter', rounding: 'even' },
    { algorithm: 'gcra', period: { calendar: 'day' } },
  ])('has no option that would be ignored: %o', (options) => {
    expect(() => planOf({ limit: 1, period: '1s', ...options } as Policy)).toThrow(ConfigError)
  })
})
