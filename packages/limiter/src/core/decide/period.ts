import { ConfigError } from '../errors.ts'
import { ticksOf } from '../time.ts'
import type { BasePolicy } from './policy.ts'

/** Microseconds of a policy's period. @throws ConfigError for a calendar period: only fixed windows have one. */
export function periodTicks({ algorithm, period }: BasePolicy): number {
  if (typeof period === 'object') {
    throw new ConfigError(`a calendar period is not supported by ${algorithm}, only by fixed-window`, {
      path: ['period'],
    })
  }
  return ticksOf(period, ['period'])
}
