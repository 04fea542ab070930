import { ConfigError } from '../../../core/errors.ts'
import { type Cidr, cidrTrie, parseCidr, valuesAt } from '../../../core/identify/cidr.ts'
import { parseAddress } from '../../../core/identify/ip.ts'

/** Looks a caller up by key and address; `undefined` when the list does not name it. */
export type CallerList<T> = (key: string | undefined, address: string | undefined) => T | undefined

/**
 * A list of callers: keys, addresses and CIDRs. A key goes before a network, a narrow network before a wide one.
 * An entry that parses as an address or CIDR is matched against the client's address alone, never against a key, which
 * a client may choose. `undefined` for an empty list.
 * @throws ConfigError for an empty entry
 */
export function callerList<T>(entries: Iterable<readonly [string, T]>): CallerList<T> | undefined {
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
