import { ConfigError } from '../errors.ts'
import type { Plan } from './algorithm.ts'
import type { Role } from './role.ts'

/** @throws ConfigError for a limit that no proxy can keep by itself: what Envoy understands is a bucket that fills evenly. */
export function checkAssign(
  { algorithm: { name, traits } }: Plan,
  role: Role,
  has: { readonly block: boolean; readonly delay: boolean },
): void {
  const refuse = (why: string): never => {
    throw new ConfigError(why, { path: ['assign'] })
  }
  if (name !== 'token-bucket')
    refuse(`assigning is not supported by ${name}: what proxies can keep is a token-bucket`)
  if (!traits.flows)
    refuse('assigning is not supported beside refill: interval: the buckets of proxies fill evenly')
  if (role !== 'enforce')
    refuse(`assigning needs a limit that is enforced, and this one is of role ${role}: proxies refuse`)
  if (has.block) refuse('assigning is not supported beside a block, which has to see every request')
  if (has.delay) refuse('assigning is not supported beside on_limit: delay: proxies refuse')
}
