import {
  algorithmSuite,
  policiesOf,
  replay,
  slidingLogFormula,
  stateUnderTest,
  workedExample,
} from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../algorithms.ts'

algorithmSuite(
  { describe, it },
  { name: 'sliding-window-log', policies: policiesOf('sliding-window-log'), formula: slidingLogFormula },
)

const log = (limit: number, period: string): Policy => ({ algorithm: 'sliding-window-log', limit, period })

describe('a sliding window log', () => {
  it('of 2 per minute: does not record the one that it refuses at 1:00:50', () => {
    workedExample(log(2, '1m'), [
      ['1:00:01', 1, '1 left'],
      ['1:00:30', 1, '0 left'],
      ['1:00:50', 1, 'wait 11000 ms'],
      ['1:01:40', 1, '1 left'],
    ])
  })

  it('no longer counts what is exactly one period old (FB-006)', () => {
    workedExample(log(3, '1s'), [
      [0, 1, '2 left'],
      [0.1, 1, '1 left'],
      [0.2, 1, '0 left'],
      [0.999_999, 1, 'wait 0.001 ms'],
      [1, 1, '0 left'],
      [1.05, 1, 'wait 50 ms'],
      [1.1, 1, '0 left'],
    ])
  })

  it('has no edge to crowd at (FB-007)', () => {
    workedExample(log(5, '1m'), [
      ['11:59:59', 5, '0 left'],
      ['12:00:00', 1, 'wait 59000 ms'],
      ['12:00:58.999999', 1, 'wait 0.001 ms'],
      ['12:00:59', 5, '0 left'],
    ])
  })

  it('lets a client that keeps its pace have its share (FB-030, T41)', () => {
    const passed = (policy: Policy, seconds: number, count: number): number =>
      replay(
        policy,
        Array.from({ length: count }, (_, i) => [i * seconds]),
      ).filter((told) => told.endsWith('left')).length
    expect(passed(log(10, '10m'), 30, 40)).toBe(20)
    expect(passed(log(2, '1s'), 0.1, 50)).toBe(10)
  })

  it('knows that a cost above the limit can never pass (FB-037)', () => {
    workedExample(log(10, '1m'), [
      [0, 5, '5 left'],
      [0, 100, 'never'],
      [0, 0, '5 left'],
    ])
  })

  it('waits until enough of several costs has aged out', () => {
    workedExample(log(10, '1m'), [
      [0, 3, '7 left'],
      [10, 4, '3 left'],
      [20, 3, '0 left'],
      [30, 3, 'wait 30000 ms'],
      [30, 4, 'wait 40000 ms'],
      [30, 8, 'wait 50000 ms'],
    ])
  })

  it('gives back the entry that was charged, and no other (FB-034)', () => {
    const state = stateUnderTest(planOf(log(10, '1s')))
    for (let i = 0; i < 9; i++) {
      expect(state.decide(i * 100_000, 1, 1).remaining).toBe(9)
      state.settle(i * 100_000, -1, i * 100_000, 1)
    }
    expect(state.decide(1_001_000, 0, 1).remaining).toBe(10)
    expect(state.decide(1_001_000, 1, 1).remaining).toBe(9)
    state.settle(1_001_000, -5, 0, 1)
    expect(state.decide(1_001_000, 0, 1).remaining).toBe(9)
  })

  it('lasts a year without a timer (FB-019, T29)', () => {
    const told = replay(
      log(5, '365d'),
      [0, 1, 2, 3, 4, 5].map((second) => [second]),
    )
    expect(told.slice(4)).toEqual(['0 left', 'wait 31535995000 ms'])
  })

  it('keeps no more room than a few times what still counts', () => {
    const state = stateUnderTest(planOf(log(100, '1s')))
    for (let i = 0; i < 5_000; i++) state.decide(i * 20_000, 1, 1)
    expect(state.cells.length).toBeLessThanOrEqual(4 + 2 * 4 * 51)
  })
})
