import {
  algorithmSuite,
  fixedWindowFormula,
  policiesOf,
  replay,
  stateUnderTest,
  workedExample,
} from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../algorithms.ts'

algorithmSuite(
  { describe, it },
  { name: 'fixed-window', policies: policiesOf('fixed-window'), formula: fixedWindowFormula },
)

const fivePerMinute: Policy = { algorithm: 'fixed-window', limit: 5, period: '1m' }
const day = 86_400

describe('a fixed window', () => {
  it('of 5 per minute: five at 2:00:58 and five at 2:01:02 all pass, ten within 2:00:30–2:01:30', () => {
    workedExample(fivePerMinute, [
      ['2:00:58', 5, '0 left'],
      ['2:00:58', 1, 'wait 2000 ms'],
      ['2:01:02', 5, '0 left'],
      ['2:01:02', 1, 'wait 58000 ms'],
    ])
  })

  it('never lets more than twice the limit pass across an edge (FB-007)', () => {
    workedExample(fivePerMinute, [
      ['11:59:59', 5, '0 left'],
      ['12:00:00', 5, '0 left'],
      ['12:00:00', 1, 'wait 60000 ms'],
      ['12:00:59', 1, 'wait 1000 ms'],
    ])
  })

  it('tells what is left of the window, not the whole of it (FB-045)', () => {
    const policy: Policy = { algorithm: 'fixed-window', limit: 2, period: '20s' }
    workedExample(policy, [
      [0, 1, '1 left'],
      [0, 1, '0 left'],
      [19, 1, 'wait 1000 ms'],
      [20, 1, '1 left'],
    ])
  })

  it('is not prolonged by hits within it (FB-028)', () => {
    const policy: Policy = { algorithm: 'fixed-window', limit: 5, period: '10s' }
    workedExample(policy, [
      [0, 1, '4 left'],
      [4, 1, '3 left'],
      [8, 1, '2 left'],
      [12, 1, '4 left'],
      [16, 1, '3 left'],
      [20, 1, '4 left'],
    ])
  })

  it('is over at its end, with nothing left to wait for (T36)', () => {
    const state = stateUnderTest(planOf(fivePerMinute))
    state.decide(0, 5, 1)
    expect(state.decide(60_000_000, 0, 1)).toMatchObject({
      remaining: 5,
      moreAfterMs: null,
      resetAfterMs: 0,
    })
  })

  it.each(['30d', '365d'])('lasts %s without a timer (FB-019, T29)', (period) => {
    const policy: Policy = { algorithm: 'fixed-window', limit: 5, period }
    const start = Number.parseInt(period, 10) * 60 * day
    const told = replay(
      policy,
      [0, 1, 2, 3, 4, 5].map((second) => [start + second]),
    )
    expect(told.slice(0, 5)).toEqual(['4 left', '3 left', '2 left', '1 left', '0 left'])
    expect(told[5]).toMatch(/^wait \d{9,} ms$/)
  })

  it('counts a fraction of a second as it is (T28)', () => {
    const policy: Policy = { algorithm: 'fixed-window', limit: 1, period: '0.5s' }
    workedExample(policy, [
      [0, 1, '0 left'],
      [0.4, 1, 'wait 100 ms'],
      [0.5, 1, '0 left'],
    ])
    expect(replay({ ...policy, period: '1.9s' }, [[1.9 * 6], [1.9 * 6 + 1]])).toHaveLength(2)
  })
})
