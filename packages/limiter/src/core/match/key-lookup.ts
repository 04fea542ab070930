import { ConfigError } from '../errors.ts'
import { type Cidr, cidrTrie, looksLikeAddress, parseCidr, valuesAt } from '../identify/cidr.ts'
import type { Facts } from '../identify/facts.ts'
import type { Part } from '../identify/key-part.ts'

/** What a rule says of a request's client: `values` are the parts of its key, before they are escaped or hashed. */
export type KeyLookup<T> = (facts: Facts, values: readonly string[]) => T | undefined

/**
 * Looks a client up in a list of addresses, CIDRs and key values; the first entry that matches counts. An address or
 * CIDR is matched against the client's address, whatever the key; every entry against each part that is no address.
 * `undefined` for an empty list.
 * @throws ConfigError for an entry that could never match
 * @example
 * const parts = [parsePart('ip'), parsePart('header:x-user')]
 * const quotaOf = keyLookup([['192.0.2.0/24', 'office'], ['ada', 'staff']], parts)
 */
export function keyLookup<T>(
  entries: readonly (readonly [string, T])[],
  parts: readonly Part[],
): KeyLookup<T> | undefined {
  if (entries.length === 0) return undefined
  const cidrs: [Cidr, number][] = []
  const byPart = parts.map(() => new Map<string, number>())
  entries.forEach(([text], entry) => {
    const cidr = parseCidr(text)
    if (cidr !== undefined) cidrs.push([cidr, entry])
    else if (text === '' || parts.every(({ kind }) => kind === 'ip')) {
      throw new ConfigError(
        `${JSON.stringify(text.slice(0, 80))} is not an address or CIDR, and the key has no other part`,
      )
    } else if (looksLikeAddress(text)) {
      throw new ConfigError(
        `${JSON.stringify(text.slice(0, 80))} looks like an address or CIDR, but is none: write it as 192.0.2.1 or 192.0.2.0/24`,
      )
    }
    parts.forEach(({ kind, spell }, i) => {
      const known = byPart[i]!
      if (kind !== 'ip' && !known.has(spell(text))) known.set(spell(text), entry)
    })
  })
  const networks = cidrTrie(cidrs)
  return (facts, values) => {
    let first = entries.length
    for (let i = 0; i < values.length; i++) first = Math.min(first, byPart[i]!.get(values[i]!) ?? first)
    if (cidrs.length > 0 && facts.address !== undefined) {
      for (const entry of valuesAt(networks, facts.address)) first = Math.min(first, entry)
    }
    return entries[first]?.[1]
  }
}
