import { ConfigError } from '../errors.ts'
import type { Plan } from './algorithm.ts'
import { wholeNumber } from './integers.ts'
import type { Role } from './role.ts'

/** @throws ConfigError where taking so many units ahead cannot work, or would never be used. */
export function checkPrefetch(
  units: number,
  { algorithm: { name, traits } }: Plan,
  role: Role,
  blocks: boolean,
  cost = 1,
): void {
  wholeNumber('prefetch', units, 2)
  const refuse = (why: string): never => {
    throw new ConfigError(why, { path: ['prefetch'] })
  }
  if (traits.holds) refuse(`taking units ahead is not supported by ${name}, which counts what is in use`)
  if (traits.queues)
    refuse(`taking units ahead is not supported by ${name}, which delays requests in their order`)
  if (role !== 'enforce')
    refuse(`taking units ahead needs a limit that is enforced, and this one is of role ${role}`)
  if (blocks) refuse('taking units ahead is not supported beside a block, which has to see every request')
  if (units <= cost) refuse(`the units taken ahead (${units}) must be more than the request cost (${cost})`)
}

/** Units that can be taken ahead under this plan: at most what it holds; `undefined` where that leaves nothing to take ahead. */
export function prefetchOf(units: number | undefined, { capacity }: Plan): number | undefined {
  return units === undefined || capacity < 2 ? undefined : Math.min(units, capacity)
}
