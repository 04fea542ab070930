import { ipKey, parseCidr } from '@sluice/limiter/address'

/** Addresses and CIDRs in their canonical text, by version of IP. */
export interface Networks {
  readonly v4: readonly string[]
  readonly v6: readonly string[]
}

/** Sorts texts that a rulebook has as addresses or CIDRs; IPv4-mapped ones are IPv4. `undefined` where one is neither. */
export function networksOf(texts: readonly string[]): Networks | undefined {
  const found: { v4: string[]; v6: string[] } = { v4: [], v6: [] }
  for (const text of texts) {
    const cidr = parseCidr(text)
    if (cidr === undefined) return undefined
    const network = ipKey(text.split('/')[0]!, cidr.bits, cidr.bits)!
    found[cidr.address.version === 4 ? 'v4' : 'v6'].push(network)
  }
  return found
}
