import { describe, expect, it } from 'vitest'
import { ConfigError } from './errors.ts'
import { ticksOf } from './time.ts'

describe('a duration', () => {
  it.each([
    [1, 1_000],
    [0.001, 1],
    [333.333, 333_333],
    ['1us', 1],
    ['500ms', 500_000],
    ['10s', 10_000_000],
    ['s', 1_000_000],
    ['1.5h', 5_400_000_000],
    ['0.1s', 100_000],
    ['5m', 300_000_000],
    ['5 mins', 300_000_000],
    ['2 Seconds', 2_000_000],
    ['1d', 86_400_000_000],
    [' 2 weeks ', 1_209_600_000_000],
    ['week', 604_800_000_000],
  ])('of %j is %d µs', (duration, ticks) => {
    expect(ticksOf(duration)).toBe(ticks)
  })

  it.each([
    ...[
      '',
      ' ',
      's s',
      '5',
      '10 s 5',
      '-5s',
      '1e3s',
      '5hs',
      '5mss',
      'fortnight',
      'constructor',
      '__proto__',
      '1_000ms',
    ],
    ...[0, -1, 0.000_5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '0.0000001s', '0s', '1'.repeat(400)],
    ...[undefined, null, {}],
  ])('is not %j', (duration) => {
    expect(() => ticksOf(duration as string)).toThrow(ConfigError)
  })

  it('as a number of milliseconds keeps every microsecond of 70 years', () => {
    for (const ticks of [2 ** 51 - 1, 2 ** 51 - 12_345, 1_234_567_891_234_567])
      expect(ticksOf(ticks / 1_000)).toBe(ticks)
  })
})
