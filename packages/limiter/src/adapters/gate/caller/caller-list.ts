import type { FieldPath } from '../../../core/errors.ts'
import {
  type Cidr,
  cidrCheck,
  cidrTrie,
  looksLikeAddress,
  parseCidr,
  valuesAt,
} from '../../../core/identify/cidr.ts'
import { parseAddress } from '../../../core/identify/ip.ts'
import { checkOptions, that } from '../../../core/options.ts'

/** Looks a caller up by key and address; `undefined` when the list does not name it. */
export type CallerList<T> = (key: string | undefined, address: string | undefined) => T | undefined

const CALLER = that(
  'a key, an address or a CIDR (it is not empty, and what looks like an address has to be one)',
  (text) => text !== '' && !looksLikeAddress(text as string),
)

/**
 * A list of callers: keys, addresses and CIDRs. A key goes before a network, a narrow network before a wide one.
 * An entry that parses as an address or CIDR is matched against the client's address alone, never against a key, which
 * a client may choose. `undefined` for an empty list.
 * @param entries each with its path in the options, for errors
 * @param keyed whether callers have keys: without them only addresses can fit
 * @throws ConfigError for an entry that could never fit
 */
export function callerList<T>(
  entries: Iterable<readonly [string, T, FieldPath]>,
  keyed: boolean,
): CallerList<T> | undefined {
  const byKey = new Map<string, T>()
  const networks: [Cidr, T][] = []
  for (const [text, value, path] of entries) {
    const cidr = parseCidr(text)
    if (cidr !== undefined) networks.push([cidr, value])
    else {
      checkOptions(text, keyed ? CALLER : cidrCheck, ...path)
      byKey.set(text, value)
    }
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
