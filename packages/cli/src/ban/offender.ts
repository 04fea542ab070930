import { networkInterfaces } from 'node:os'
import { type CidrTrie, cidrTrie, ipKey, parseAddress, parseCidr, valuesAt } from '@sluice/limiter/address'
import { TICKS_PER_MS, ticksOf } from '@sluice/limiter/time'

/** An address that is refused for a time. */
export interface Offender {
  /** As the kernel takes it: an IPv4 address, or the first address of an IPv6 /64. */
  readonly address: string
  readonly version: 4 | 6
  /** Whole seconds, rounded up. */
  readonly seconds: number
}

/** Longest ban that a kernel's table takes: 49 days. */
const MOST_SECONDS = 4_000_000

/** Networks that are no clients: this machine, its own links, groups. */
const NO_CLIENTS: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/127',
  'fe80::/10',
  'ff00::/8',
]

/** All that is never banned: those networks, this machine's own addresses, and what the user allows. */
export function neverBanned(allowed: readonly string[]): readonly string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address.replace(/%.*$/, '')),
  )
  return [...new Set([...NO_CLIENTS, ...own, ...allowed])]
}

/** Networks to look addresses up in. */
export function networksOfKey(texts: readonly string[]): CidrTrie<string> {
  return cidrTrie(texts.map((text) => [parseCidr(text)!, text]))
}

/**
 * Reads a line such as `{"ip": "192.0.2.1", "for": "15m"}`; `for` is a duration, or milliseconds. Other fields are
 * passed over.
 * @returns the offender, or why there is none, in words
 */
export function offenderOf(
  line: string | undefined,
  protectedNetworks: CidrTrie<string>,
  mostMs: number,
): Offender | string {
  if (line === undefined) return 'a line is too long'
  let said: unknown
  try {
    said = JSON.parse(line)
  } catch {
    return 'a line is not JSON'
  }
  const { ip, for: time } = (typeof said === 'object' && said !== null ? said : {}) as Record<string, unknown>
  const address = typeof ip === 'string' ? parseAddress(ip) : undefined
  if (address === undefined) return 'a line has no "ip" that is an address'
  const ms = millisecondsOf(time)
  if (ms === undefined) return 'a line has no "for" that is a duration, such as "15m", or milliseconds'
  const [network] = valuesAt(protectedNetworks, address)
  if (network !== undefined) return `${ipKey(ip as string, 32, 128)} is in ${network}, which is never banned`
  const seconds = Math.min(Math.ceil(Math.min(ms, mostMs) / 1_000), MOST_SECONDS)
  return { address: ipKey(ip as string)!.replace(/\/64$/, ''), version: address.version, seconds }
}

/** Above 0; `undefined` for what is no duration. */
function millisecondsOf(time: unknown): number | undefined {
  if (typeof time === 'number') return Number.isFinite(time) && time > 0 ? time : undefined
  if (typeof time !== 'string') return undefined
  try {
    const ms = ticksOf(time) / TICKS_PER_MS
    return ms > 0 ? ms : undefined
  } catch {
    return undefined
  }
}
