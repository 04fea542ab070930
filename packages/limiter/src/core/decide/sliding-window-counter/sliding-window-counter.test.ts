import { algorithmSuite, policiesOf, replay, slidingCounterFormula, workedExample } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import type { Policy } from '../algorithms.ts'

for (const rounding of ['down', 'up'] as const) {
  algorithmSuite(
    { describe, it },
    {
      name: `sliding-window-counter, rounding ${rounding}`,
      policies: policiesOf('sliding-window-counter', { rounding }),
      formula: slidingCounterFormula(rounding),
    },
  )
}

const counter = (limit: number, period: string, rounding: 'down' | 'up' = 'down'): Policy => ({
  algorithm: 'sliding-window-counter',
  limit,
  period,
  rounding,
})

describe('a sliding window counter', () => {
  it('of 7 per minute: 5 in the minute before, 3 so far, at 30 %: 6.5, down to 6, passes; the next is denied', () => {
    workedExample(counter(7, '1m'), [
      [30, 5, '2 left'],
      [61, 2, '1 left'],
      [61, 1, '0 left'],
      [78, 1, '0 left'],
      [78, 1, 'wait 6000.001 ms'],
    ])
  })

  it('weighs the window just before, not another, and what remains with it (FB-009)', () => {
    workedExample(counter(100, '10s'), [
      [0, 7, '93 left'],
      [15, 50, '47 left'],
      [21, 10, '45 left'],
      [21, 1, '44 left'],
    ])
  })

  it('rounds the weight down by default, so that one per second may pass twice across an edge (FB-012)', () => {
    workedExample(counter(1, '1s'), [
      [0.9, 1, '0 left'],
      [1.1, 1, '0 left'],
    ])
    workedExample(counter(1, '1s', 'up'), [
      [0.9, 1, '0 left'],
      [1.1, 1, 'wait 900 ms'],
      [1.999_999, 1, 'wait 0.001 ms'],
      [2, 1, '0 left'],
    ])
  })

  it('rounding up, admits no two of one per 2 s within 8 ms (T26)', () => {
    workedExample(counter(1, '2s', 'up'), [
      [1.996, 1, '0 left'],
      [2.004, 1, 'wait 1996 ms'],
    ])
  })

  it('waits for the next place, not for the end of the window (T25)', () => {
    workedExample(counter(10, '2s', 'up'), [
      [1.9, 10, '0 left'],
      [2, 1, 'wait 200 ms'],
      [2.2, 1, '0 left'],
    ])
  })

  it('takes the window before for evenly filled: of 100 long gone, half still count (T27)', () => {
    const requests = [
      [0.001, 100],
      [3, 0],
    ] as const
    expect(replay(counter(100, '2s'), requests)).toEqual(['0 left', '50 left'])
    expect(replay({ algorithm: 'sliding-window-log', limit: 100, period: '2s' }, requests)).toEqual([
      '0 left',
      '100 left',
    ])
  })

  it('may let twice the limit pass within a period, by one who floods an edge; one less rounding up', () => {
    const flood = [
      [9.999_999, 100],
      [19.999_998, 100],
      [19.999_998, 99],
    ] as const
    expect(replay(counter(100, '10s'), flood)).toEqual(['0 left', '0 left', 'wait 9800.003 ms'])
    expect(replay(counter(100, '10s', 'up'), flood)).toEqual(['0 left', 'wait 0.002 ms', '0 left'])
  })
})
