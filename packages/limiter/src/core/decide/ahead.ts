import { ConfigError } from '../errors.ts'
import type { Plan } from './algorithm.ts'
import { wholeNumber } from './integers.ts'
import type { AlgorithmName } from './policy.ts'
import type { Step } from './step.ts'

/** What decides whether units can be taken ahead. */
export interface Leased {
  readonly algorithm: AlgorithmName
  readonly role: Step['role']
  /** A guard stands behind the step. */
  readonly guarded: boolean
  /** Units of a request, where they are known. */
  readonly cost?: number | undefined
}

/** @throws ConfigError where a lease of so many units cannot work, or would never be used. */
export function checkLease(lease: number, { algorithm, role, guarded, cost = 1 }: Leased): void {
  wholeNumber('lease', lease, 2)
  if (algorithm === 'concurrency' || algorithm === 'leaky-bucket') {
    const why = algorithm === 'concurrency' ? 'holds what is in use' : 'delays requests in their order'
    throw new ConfigError(`a lease does not go with ${algorithm}, which ${why}`)
  }
  if (role !== 'enforce')
    throw new ConfigError(`a lease goes with limits that are enforced, not with a ${role}`)
  if (guarded) throw new ConfigError('a lease does not go with a block, which hears of every request')
  if (lease <= cost) throw new ConfigError(`a lease of ${lease} holds nothing beyond a request’s ${cost}`)
}

/** {@link Step.ahead} under this plan: at most what it holds; `undefined` where that is no lease. */
export function aheadOf(lease: number | undefined, { capacity }: Plan): number | undefined {
  return lease === undefined || capacity < 2 ? undefined : Math.min(lease, capacity)
}
