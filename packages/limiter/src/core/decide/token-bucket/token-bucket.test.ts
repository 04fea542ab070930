import {
  algorithmSuite,
  bucketFormula,
  intervalFormula,
  policiesOf,
  replay,
  stateUnderTest,
  workedExample,
} from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../algorithms.ts'

algorithmSuite(
  { describe, it },
  { name: 'token-bucket', policies: policiesOf('token-bucket'), formula: bucketFormula },
)
algorithmSuite(
  { describe, it },
  {
    name: 'token-bucket by interval',
    policies: policiesOf('token-bucket', { refill: 'interval' }),
    formula: intervalFormula,
  },
)

const day = 86_400

describe('a token bucket', () => {
  it('of 4, 2 per second: four at once pass, the fifth is told 500 ms', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 2, period: '1s', burst: 4 }
    workedExample(policy, [
      [0, 1, '3 left'],
      [0, 1, '2 left'],
      [0, 1, '1 left'],
      [0, 1, '0 left'],
      [0, 1, 'wait 500 ms'],
      [0.499_999, 1, 'wait 0.001 ms'],
      [0.5, 1, '0 left'],
      [1, 1, '0 left'],
      [1.000_001, 1, 'wait 499.999 ms'],
    ])
  })

  it('keeps the fractions of a token between requests (FB-013)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 10, period: '30s' }
    const remaining = [9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2]
    expect(
      replay(
        policy,
        Array.from(remaining.keys(), (second) => [second]),
      ),
    ).toEqual(remaining.map((left) => `${left} left`))
  })

  it('takes nothing for time that lies before the last admission (FB-004)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 20, period: '10s' }
    workedExample(policy, [
      [2 * day, 1, '19 left'],
      [0, 1, '18 left'],
      [1, 18, '0 left'],
      [1, 1, 'wait 500 ms'],
    ])
  })

  it('is exactly full after any idle time (FB-016, T45)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 1, period: '1h' }
    workedExample(policy, [
      [0, 1, '0 left'],
      [1_979.657_712, 1, 'wait 1620342.288 ms'],
      [3_600, 1, '0 left'],
      [10_000 * day, 1, '0 left'],
      [10_000 * day, 1, 'wait 3600000 ms'],
    ])
  })

  it('gains half a day’s tokens in half a day, however many (FB-017)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 300_000, period: '24h' }
    workedExample(policy, [
      [0, 300_000, '0 left'],
      [day / 2, 0, '150000 left'],
    ])
  })

  it('tells a wait in time, not in tokens, and keeps it (FB-048)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 1, period: '2s', burst: 42 }
    workedExample(policy, [
      [0, 42, '0 left'],
      [0, 42, 'wait 84000 ms'],
      [84, 42, '0 left'],
    ])
  })

  it('is not dug deeper by those whom it refuses (T04)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 1, period: '500ms', burst: 10 }
    const polls = Array.from({ length: 16 }, (_, i) => [(i + 1) / 4] as const)
    const answers = replay(policy, [[0, 9], [0, 5], ...polls])
    expect(answers.slice(0, 2)).toEqual(['1 left', 'wait 2000 ms'])
    expect(answers.slice(2).filter((answer) => answer.endsWith('left'))).toHaveLength(9)
  })

  it('gives its burst and then nothing more where nothing flows in (FB-055)', () => {
    const policy: Policy = { algorithm: 'token-bucket', limit: 0, period: '1s', burst: 1 }
    workedExample(policy, [
      [0, 1, '0 left'],
      [0, 1, 'never'],
      [3_650 * day, 1, 'never'],
    ])
  })

  it('is never filled above its capacity by giving back (T14)', () => {
    const state = stateUnderTest(planOf({ algorithm: 'token-bucket', limit: 10, period: '10s' }))
    state.decide(0, 4, 1)
    state.settle(0, -100, 0, 1)
    expect(state.decide(0, 11, 1)).toMatchObject({ allowed: false, retryAfterMs: null, remaining: 10 })
  })

  it('gives back no more than can be left of a charge that old', () => {
    const state = stateUnderTest(planOf({ algorithm: 'token-bucket', limit: 10, period: '10s' }))
    state.decide(0, 10, 1)
    state.decide(7_000_000, 7, 2)
    state.settle(7_000_000, -5, 0, 1)
    expect(state.decide(7_000_000, 0, 3)).toMatchObject({ remaining: 3 })
  })
})

describe('a token bucket by interval', () => {
  const policy: Policy = { algorithm: 'token-bucket', limit: 4, period: '1m', refill: 'interval' }

  it('of 4 per minute: fills at whole minutes from the first charge, and not between', () => {
    workedExample(policy, [
      [10, 3, '1 left'],
      [20, 1, '0 left'],
      [69, 1, 'wait 1000 ms'],
      [69.999_999, 1, 'wait 0.001 ms'],
      [70, 1, '3 left'],
      [129, 4, 'wait 1000 ms'],
      [130, 4, '0 left'],
      [130, 1, 'wait 60000 ms'],
    ])
  })

  it('needs as many arrivals as a large burst is short of', () => {
    workedExample({ ...policy, burst: 10 }, [
      [0, 10, '0 left'],
      [0, 5, 'wait 120000 ms'],
      [60, 5, 'wait 60000 ms'],
      [120, 5, '3 left'],
    ])
  })
})
