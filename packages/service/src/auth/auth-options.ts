import { type CidrTrie, cidrTrie, parseCidr } from '@sluice/limiter/address'
import {
  durationCheck,
  listOf,
  type OptionCheck,
  type OptionFields,
  objectOf,
  textCheck,
  that,
} from '@sluice/limiter/options'
import { TICKS_PER_MS, ticksOf } from '@sluice/limiter/time'

/** How the service answers proxies, at `/auth`. */
export interface AuthOptions {
  /**
   * Addresses and CIDRs of the proxies that may say what the original request was and who sent it. Headers of others
   * are ignored. Default: none.
   */
  readonly trusted?: readonly string[]
  /** The domain of the rules, where the path does not name one. Default: the rulebook's only one. */
  readonly domain?: string
  /**
   * The status of every refusal, where the path does not say. Default: that of the refusal itself, which is 429, 503 or
   * 403.
   */
  readonly deny?: 403 | 429
  /**
   * For how long proxies wait: milliseconds or text, above 0 to `1m`. If a store outside this process has not answered by
   * then, each rule's `on_store_error` decides. Default `80ms`: the store's own deadline, 50 ms, ends before it.
   */
  readonly deadline?: number | string
}

const MOST_TICKS = 60_000 * TICKS_PER_MS

export const DENY_STATUSES = [403, 429] as const

const network: OptionCheck = that(
  'an address or a CIDR',
  (value) => typeof value === 'string' && parseCidr(value) !== undefined,
)

const deadline: OptionCheck = (value, path) => {
  const wrong = durationCheck(value, path)
  if (wrong !== undefined) return wrong
  const ticks = ticksOf(value as number | string)
  return ticks > 0 && ticks <= MOST_TICKS ? undefined : ['above 0 to 1m']
}

/** What the options of `/auth` may be. */
const authFields: OptionFields<AuthOptions> = {
  trusted: listOf(network),
  domain: textCheck,
  deny: that(DENY_STATUSES.join(' or '), (value) => DENY_STATUSES.includes(value as 403)),
  deadline,
}

/** What the options of `/auth` may be, as one check. */
export const authCheck: OptionCheck = objectOf(authFields)

/** Whom {@link AuthOptions.trusted} names. */
export function trustedNetworks({ trusted = [] }: AuthOptions): CidrTrie<true> {
  return cidrTrie(trusted.map((text) => [parseCidr(text)!, true]))
}

/** Milliseconds that a proxy waits for an answer. */
export function deadlineMsOf({ deadline = '80ms' }: AuthOptions): number {
  return ticksOf(deadline) / TICKS_PER_MS
}
