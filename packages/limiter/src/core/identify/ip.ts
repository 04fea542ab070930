/** An address by its bits. IPv4-mapped (`::ffff:0:0/96`) and NAT64 (`64:ff9b::/96`) addresses are the IPv4 ones inside. */
export interface Address {
  readonly version: 4 | 6
  /** Unsigned 32-bit words, highest first: one, or four. */
  readonly words: readonly number[]
}

/** The longest text looked at: 45 characters of address, brackets, a port, and room for a zone. */
const MAX_TEXT = 100
const PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/
const ZONE = /%[^%]+$/
const GROUP = /^[\da-f]{1,4}$/i

/**
 * Reads an address as sockets, proxies and headers write it: a port, brackets and a zone id are dropped.
 * IPv4 must be four decimal numbers: `010.1.2.3` and `1.2` mean different hosts to different readers.
 * `undefined` when it is no address.
 * @example
 * parseAddress('[2001:db8::1]:443')?.version // 6
 */
export function parseAddress(text: string | undefined): Address | undefined {
  if (typeof text !== 'string') return undefined
  const word = ipv4Word(text)
  if (word >= 0) return { version: 4, words: [word] }
  if (text.length > MAX_TEXT) return undefined
  const [, bracketed, dotted] = PORT.exec(text.trim()) ?? []
  if (dotted !== undefined) {
    const inner = ipv4Word(dotted)
    return inner < 0 ? undefined : { version: 4, words: [inner] }
  }
  return parseIpv6((bracketed ?? text.trim()).replace(ZONE, ''))
}

/**
 * One key for one client: IPv4 whole, IPv6 by its /64, since a host commands at least that much (RFC 6177).
 * `10.1.2.3` stays so; `2001:db8::1` becomes `2001:db8::/64`. `undefined` when it is no address.
 * @param v4Bits leading bits of an IPv4 address that count, 1 to 32
 * @param v6Bits of an IPv6 address, 1 to 128
 * @example
 * ipKey('2001:db8::1') // '2001:db8::/64'
 */
export function ipKey(text: string | undefined, v4Bits = 32, v6Bits = 64): string | undefined {
  if (typeof text !== 'string') return undefined
  if (v4Bits === 32 && ipv4Word(text) >= 0) return text
  const address = parseAddress(text)
  return address && networkText(address, address.version === 4 ? v4Bits : v6Bits)
}

/** The network of so many leading bits, in canonical text (RFC 5952); a whole address goes without `/bits`. */
export function networkText({ version, words }: Address, bits: number): string {
  const kept = words.map((word, i) => leadingBits(word, bits - 32 * i))
  const text = version === 4 ? ipv4Text(kept[0]!) : ipv6Text(kept.flatMap(halves))
  return bits === words.length * 32 ? text : `${text}/${bits}`
}

function leadingBits(word: number, bits: number): number {
  if (bits >= 32) return word
  return bits <= 0 ? 0 : (word & (-1 << (32 - bits))) >>> 0
}

function parseIpv6(text: string): Address | undefined {
  const parts = groupsOf(withoutDots(text))
  if (parts === undefined) return undefined
  const words = [0, 2, 4, 6].map((i) => parts[i]! * 0x10000 + parts[i + 1]!)
  const [a, b, c, d] = words
  const wraps = b === 0 && ((a === 0 && c === 0xffff) || (a === 0x64ff9b && c === 0))
  return wraps ? { version: 4, words: [d!] } : { version: 6, words }
}

/** The eight groups of an IPv6 address; `::` stands once, for one group of zeros or more (RFC 4291, 2.2). */
function groupsOf(text = ''): number[] | undefined {
  const [before, after, more] = text.split('::').map((side) => (side === '' ? [] : side.split(':')))
  if (before === undefined || more !== undefined) return undefined
  const zeros = 8 - before.length - (after?.length ?? 0)
  if (after === undefined ? zeros !== 0 : zeros < 1) return undefined
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...(after ?? [])]
  return groups.every((group) => GROUP.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined
}

/** Lower case, no leading zeros, the first longest run of two or more zeros as `::` (RFC 5952, 4). */
function ipv6Text(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(':')
  const runs = text.match(/\b0(:0)+\b/g) ?? []
  const longest = runs.reduce((a, b) => (b.length > a.length ? b : a), '')
  return longest === '' ? text : text.replace(new RegExp(`(^|:)${longest}(:|$)`), '::')
}

/** A dotted tail as two groups, so that how an address is written cannot decide what it is. */
function withoutDots(text: string): string | undefined {
  if (!text.includes('.')) return text
  const tail = text.lastIndexOf(':') + 1
  const word = ipv4Word(text.slice(tail))
  if (word < 0) return undefined
  const [high, low] = halves(word)
  return `${text.slice(0, tail)}${high.toString(16)}:${low.toString(16)}`
}

function halves(word: number): [number, number] {
  return [word >>> 16, word & 0xffff]
}

function ipv4Text(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`
}

const DOT = 46
const ZERO = 48

/** The 32 bits of plain dotted IPv4; −1 for anything else. The fast path: most traffic ends here. */
function ipv4Word(text: string): number {
  if (text.length < 7 || text.length > 15) return -1
  let word = 0
  let byte = -1
  let dots = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (byte < 0 || ++dots > 3) return -1
      word = word * 256 + byte
      byte = -1
    } else {
      const digit = code - ZERO
      if (digit < 0 || digit > 9 || byte === 0) return -1
      byte = byte < 0 ? digit : byte * 10 + digit
      if (byte > 255) return -1
    }
  }
  return dots === 3 && byte >= 0 ? word * 256 + byte : -1
}
