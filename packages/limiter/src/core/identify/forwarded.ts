import { ConfigError } from '../errors.ts'
import { checkOptions, listOf, objectOf, oneOf, wholeFrom } from '../options.ts'
import { type CidrTrie, cidrCheck, cidrTrie, parseCidr, valuesAt } from './cidr.ts'
import { type Address, networkText, parseAddress } from './ip.ts'

/** Entries of trusted proxies that are read: a client may send thousands. */
const MOST_ENTRIES = 100

/** Which proxies stand in front. None are trusted unless said so, and then only one of the two ways. */
export interface Proxies {
  /** The header they write; default `x-forwarded-for`. The other one is never read. */
  readonly header?: 'x-forwarded-for' | 'forwarded'
  /** Exactly so many: whole, ≥ 0. */
  readonly hops?: number
  /** Their CIDRs or addresses. */
  readonly trusted?: readonly string[]
}

const PROXIES = /* @__PURE__ */ objectOf<Proxies>({
  header: oneOf('x-forwarded-for', 'forwarded'),
  hops: wholeFrom(0),
  trusted: listOf(cidrCheck),
})

/**
 * Finds the client's address: `(peer, header) => address`, where `peer` is the socket's address and `header` the
 * value of the header that {@link Proxies} names, several lines joined with commas.
 *
 * The header is read from the right, since every proxy appends: the client may have written all that stands
 * left of the proxies' own. Reading stops at the first address that is no proxy's, and at anything that is no
 * address, and after 100 trusted proxies; then the last good hop counts. Fewer hops than configured: somebody went around, the peer counts.
 *
 * @throws ConfigError for both ways at once, and for invalid options
 * @example
 * const addressOf = clientAddress({ header: 'x-forwarded-for', hops: 1 })
 * addressOf('10.0.0.1', '198.51.100.7, 203.0.113.9') // '203.0.113.9'
 */
export function clientAddress(
  proxies: Proxies,
): (peer: string | undefined, header: string | undefined) => string | undefined {
  checkOptions(proxies, PROXIES)
  const { header: name = 'x-forwarded-for', hops, trusted } = proxies
  if (hops !== undefined && trusted !== undefined) throw new ConfigError('give hops or trusted, not both')
  const separated = name === 'forwarded' ? forParameter : (token: string) => token
  const networks = trusted && trieOf(trusted)
  return (peerText, header = '') => {
    const peer = peerText === undefined ? undefined : parseAddress(peerText)
    const tokens = fromRight(header, ',', separated)
    const client = networks ? pastTrusted(peer, tokens, networks) : pastHops(peer, tokens, hops ?? 0)
    return client && networkText(client, client.words.length * 32)
  }
}

function trieOf(trusted: readonly string[]): CidrTrie<true> {
  return cidrTrie(trusted.map((text) => [parseCidr(text)!, true]))
}

function pastTrusted(
  peer: Address | undefined,
  tokens: Iterable<string>,
  trusted: CidrTrie<true>,
): Address | undefined {
  let client = peer
  let left = MOST_ENTRIES
  for (const token of tokens) {
    if (left-- === 0 || client === undefined || valuesAt(trusted, client).length === 0) break
    const next = parseAddress(token)
    if (next === undefined) break
    client = next
  }
  return client
}

function pastHops(peer: Address | undefined, tokens: Iterable<string>, hops: number): Address | undefined {
  if (hops === 0) return peer
  let client = peer
  let passed = 0
  for (const token of tokens) {
    const next = parseAddress(token)
    if (next === undefined) return client
    client = next
    if (++passed === hops) return client
  }
  return peer
}

/**
 * Pieces between separators outside quotes, last first. Read from the right, a quote that the client left open
 * cannot swallow what a proxy appended.
 */
function* fromRight(
  text: string,
  separator: string,
  piece: (text: string) => string = (own) => own,
): Generator<string> {
  let quoted = false
  let end = text.length
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === '"' && !isEscaped(text, i)) quoted = !quoted
    else if (text[i] === separator && !quoted) {
      yield piece(text.slice(i + 1, end).trim())
      end = i
    }
  }
  if (text !== '') yield piece(text.slice(0, end).trim())
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

/** The `for` of one element of RFC 7239, such as `for="[2001:db8::1]:4711";proto=https`; `''` unless there is one. */
function forParameter(element: string): string {
  const values: string[] = []
  for (const pair of fromRight(element, ';')) {
    const [, value] = /^for=(.*)$/i.exec(pair) ?? []
    if (value !== undefined) values.push(value.replace(/^"(.*)"$/, '$1'))
  }
  return values.length === 1 ? values[0]! : ''
}
