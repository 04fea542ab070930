import { type OptionCheck, that } from '../options.ts'
import { type Address, parseAddress } from './ip.ts'

export interface Cidr {
  readonly address: Address
  /** Leading bits that count, from 0 to 32 or 128. */
  readonly bits: number
}

const CIDR = /^([\da-f:.]+)(?:\/(0|[1-9]\d{0,2}))?$/i

/**
 * Reads `10.0.0.0/8`, `2001:db8::/32`, or one address. IPv4-mapped and NAT64 networks are the IPv4 ones inside;
 * the whole of either is refused, for it would mean every IPv4 address. `undefined` when it is no CIDR.
 * @example
 * parseCidr('10.0.0.0/8')?.bits // 8
 */
export function parseCidr(text: string): Cidr | undefined {
  const [, host = '', length] = CIDR.exec(text) ?? []
  const address = parseAddress(host)
  if (address === undefined) return undefined
  const wrapped = address.version === 4 && host.includes(':') ? 96 : 0
  const size = address.words.length * 32
  const bits = length === undefined ? size : Number(length) - wrapped
  return bits < (wrapped > 0 ? 1 : 0) || bits > size ? undefined : { address, bits }
}

/** An address or a network. */
export const cidrCheck: OptionCheck = that(
  'an address or CIDR',
  (value) => typeof value === 'string' && parseCidr(value) !== undefined,
)

/** Several groups of digits between dots, or of hexadecimal digits between colons, and what is often written with them. */
const DOTTED = /^\d[\d*x]*(\.[\d*x]*)+(:\d+|-[\d.]+)?$/i
const COLONS = /^\[?[\da-f*]*(:[\da-f*.]*){2,}\]?(:\d+)?(%\w*)?$/i
/** Identifiers of network cards look like addresses. */
const MAC = /^[\da-f]{2}(:[\da-f]{2}){5}$/i

/**
 * Whether text seems to be meant as an address or network: `10.0.0.0/33`, `10.0.*`, ` 10.0.0.1`. For texts that may
 * also be keys, of which {@link parseCidr} made nothing.
 * @example
 * looksLikeAddress('10.0.0.256') // true
 * looksLikeAddress('user:42') // false
 */
export function looksLikeAddress(text: string): boolean {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '')
  return parts.length > 0 && parts.every((part) => looksLikeOne(part))
}

function looksLikeOne(text: string): boolean {
  if (parseAddress(text) !== undefined) return true
  const [host = '', ...masks] = text.split('/')
  if (DOTTED.test(host)) return true
  if (!COLONS.test(host) || MAC.test(host)) return false
  return masks.length > 0 || host.includes('::') || host.split(':').length > 6
}

/** Values filed under networks: one trie of bits for each version of IP. */
export interface CidrTrie<T> {
  readonly v4: TrieNode<T>
  readonly v6: TrieNode<T>
}

interface TrieNode<T> {
  0?: TrieNode<T>
  1?: TrieNode<T>
  readonly values: T[]
}

/**
 * Files values under their networks, to be found by {@link valuesAt}.
 * @example
 * const trie = cidrTrie([[parseCidr('10.0.0.0/8')!, 'inside']])
 */
export function cidrTrie<T>(entries: Iterable<readonly [Cidr, T]>): CidrTrie<T> {
  const trie: CidrTrie<T> = { v4: { values: [] }, v6: { values: [] } }
  for (const [cidr, value] of entries) addCidr(trie, cidr, value)
  return trie
}

/** Files one more value. */
export function addCidr<T>(trie: CidrTrie<T>, { address, bits }: Cidr, value: T): void {
  let node = rootOf(trie, address)
  for (let i = 0; i < bits; i++) node = node[bit(address, i)] ??= { values: [] }
  node.values.push(value)
}

/**
 * Every value whose network holds the address, widest network first.
 * @example
 * const trie = cidrTrie([[parseCidr('10.0.0.0/8')!, 'inside']])
 * valuesAt(trie, parseAddress('10.1.2.3')!) // ['inside']
 */
export function valuesAt<T>(trie: CidrTrie<T>, address: Address): T[] {
  const found: T[] = []
  let node: TrieNode<T> | undefined = rootOf(trie, address)
  for (let i = 0; node !== undefined; i++) {
    for (const value of node.values) found.push(value)
    node = node[bit(address, i)]
  }
  return found
}

function rootOf<T>(trie: CidrTrie<T>, address: Address): TrieNode<T> {
  return address.version === 4 ? trie.v4 : trie.v6
}

function bit({ words }: Address, i: number): 0 | 1 {
  return ((words[i >>> 5]! >>> (31 - (i & 31))) & 1) as 0 | 1
}
