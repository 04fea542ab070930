import { type LineFields, PLACE } from './line-fields.ts'

const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
const SLASH = 47
const COLON = 58
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

/** The next `byte` from `from` on; −1 where there is none before `to`. */
export function find(bytes: Uint8Array, byte: number, from: number, to: number): number {
  for (let i = from; i < to; i++) if (bytes[i] === byte) return i
  return -1
}

/** The quote that closes a text from `from` on, in which a backslash escapes; −1 where it stays open. */
export function closingQuote(bytes: Uint8Array, from: number, to: number): number {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) return i
    if (byte === BACKSLASH) i++
  }
  return -1
}

/** Behind the bracket that closes the JSON list or object at `from`; −1 where it stays open. */
export function bracketEnd(bytes: Uint8Array, from: number, to: number): number {
  let open = 0
  for (let i = from; i < to; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) {
      i = closingQuote(bytes, i + 1, to)
      if (i < 0) return -1
    } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) open++
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
      open--
      if (open === 0) return i + 1
    }
  }
  return -1
}

/** The end of the word at `from`: the next blank, or the line's end. */
export function wordEnd(bytes: Uint8Array, from: number, to: number): number {
  const end = find(bytes, SPACE, from, to)
  return end < 0 ? to : end
}

/** Method and target of a request line such as `GET /search HTTP/1.1`; nothing where it is something else. */
export function setRequestLine(line: LineFields, from: number, to: number): void {
  const { bytes } = line
  let i = from
  while (i < to && isLetter(bytes[i]!)) i++
  if (i === from || i >= to || bytes[i] !== SPACE) return
  line.set(PLACE.method, from, i)
  const end = versionStart(bytes, i + 1, to)
  if (end > i + 1) line.set(PLACE.target, i + 1, end)
}

/** Where ` HTTP/1.1` begins, which ends a request line; else its end. */
function versionStart(bytes: Uint8Array, from: number, to: number): number {
  for (const length of [9, 7]) {
    const at = to - length
    if (at < from || bytes[at] !== SPACE || bytes[at + 5] !== SLASH) continue
    if (bytes[at + 1] !== 72 || bytes[at + 2] !== 84 || bytes[at + 3] !== 84 || bytes[at + 4] !== 80) continue
    if (isDigit(bytes[at + 6]!) && (length === 7 || (bytes[at + 7] === 46 && isDigit(bytes[at + 8]!))))
      return at
  }
  return to
}

/** An address without the port behind it. */
export function setAddress(line: LineFields, from: number, to: number): void {
  const { bytes } = line
  let colon = -1
  let colons = 0
  for (let i = from; i < to; i++) {
    if (bytes[i] !== COLON) continue
    colons++
    colon = i
  }
  const closing = bytes[from] === OPENING_BRACKET ? find(bytes, CLOSING_BRACKET, from, to) : -1
  if (closing > 0) line.setGiven(PLACE.ip, from + 1, closing)
  else line.setGiven(PLACE.ip, from, colons === 1 ? colon : to) // several colons: IPv6 without a port
}

/** The last of a list of addresses: the one that the proxy itself saw. */
export function setLastAddress(line: LineFields, from: number, to: number): void {
  const { bytes } = line
  let start = from
  for (let i = from; i < to; i++) if (bytes[i] === 44) start = i + 1
  while (start < to && bytes[start] === SPACE) start++
  setAddress(line, start, to)
}

/** A number such as `0.086` in microseconds, where one of its units has `ticks` of them; −1 where it is none. */
export function durationOf(bytes: Buffer, from: number, to: number, ticks: number): number {
  if (to <= from || to - from > 24) return -1
  const value = Number(bytes.toString('latin1', from, to))
  return value >= 0 ? Math.round(value * ticks) : -1
}

export function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}

function isLetter(byte: number): boolean {
  const lower = byte | 32
  return lower >= 97 && lower <= 122
}
