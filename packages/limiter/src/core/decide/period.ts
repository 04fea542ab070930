import { ConfigError } from '../errors.ts'
import { ticksOf } from '../time.ts'
import type { Policy } from './policy.ts'

/** Microseconds of a policy's period. @throws ConfigError for a calendar period: only fixed windows have one. */
export function periodTicks(policy: Policy): number {
  if (typeof policy.period === 'object') {
    throw new ConfigError(`a calendar period goes with fixed-window, not with ${policy.algorithm}`)
  }
  return ticksOf(policy.period)
}

/** @throws ConfigError when an option stands on an algorithm that would silently ignore it. */
export function refuseOptions(policy: Policy, ...options: ('burst' | 'refill' | 'rounding')[]): void {
  for (const option of options) {
    if (policy[option] !== undefined) throw new ConfigError(`${option} means nothing to ${policy.algorithm}`)
  }
}
