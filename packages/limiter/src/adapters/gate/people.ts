import { ConfigError } from '../../core/errors.ts'
import { type Cidr, cidrTrie, parseCidr, valuesAt } from '../../core/identify/cidr.ts'
import { parseAddress } from '../../core/identify/ip.ts'

/** Looks a caller up by key and address; `undefined` when the list does not name them. */
export type People<T> = (key: string | undefined, address: string | undefined) => T | undefined

/**
 * A list of people: keys, addresses and CIDRs. A key goes before a network, a narrow network before a wide one.
 * What reads as an address is held against the client's address alone: nobody gets by under a name that is one.
 * `undefined`: nobody is listed.
 * @throws ConfigError for an empty entry
 */
export function people<T>(entries: Iterable<readonly [string, T]>): People<T> | undefined {
  const byKey = new Map<string, T>()
  const networks: [Cidr, T][] = []
  for (const [text, value] of entries) {
    if (text === '') throw new ConfigError('a list of callers has an empty entry')
    const cidr = parseCidr(text)
    if (cidr !== undefined) networks.push([cidr, value])
    else byKey.set(text, value)
  }
  if (byKey.size + networks.length === 0) return undefined
  const trie = cidrTrie(networks)
  return (key, address) => {
    const known = key === undefined ? undefined : byKey.get(key)
    if (known !== undefined || networks.length === 0) return known
    const parsed = address === undefined ? undefined : parseAddress(address)
    return parsed && valuesAt(trie, parsed).at(-1)
  }
}
