import { unescapedText } from '../escapes.ts'
import { InstantReader } from '../instant-reader.ts'
import { PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { durationOf, find, setAddress, setRequestLine, wordEnd } from '../line-scan.ts'

const SPACE = 32
const OPENING = 91
const CLOSING = 93
const QUOTE = 34
const SLASH = 47

const NOT_HTTP =
  'there is no HTTP log of HAProxy, such as 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200'

/**
 * HAProxy's HTTP log (`option httplog`), with or without what syslog writes before it. Its times have no zone: they
 * count as UTC.
 */
export function haproxyReader(): LineReader {
  const instants = new InstantReader()
  return {
    attributes: [],
    text: unescapedText,
    read(bytes, from, to, line) {
      line.clear(bytes)
      const opening = stampStart(bytes, from, to)
      const closing = opening < 0 ? -1 : find(bytes, CLOSING, opening, to)
      const at = closing < 0 ? -1 : instants.clf(bytes, opening + 1, closing)
      if (!(at >= 0)) return NOT_HTTP
      line.at = at
      let address = opening - 2
      while (address > from && bytes[address - 1] !== SPACE) address--
      setAddress(line, address, opening - 1)
      // Frontend, backend/server, timers, status, bytes.
      let word = closing + 2
      for (let i = 0; i < 5; i++) {
        const end = wordEnd(bytes, word, to)
        if (end <= word) return NOT_HTTP
        if (i === 2 && find(bytes, SLASH, word, end) < 0) return NOT_HTTP
        if (i === 2) line.duration = totalTime(bytes, word, end)
        else if (i === 3) line.set(PLACE.status, word, end)
        else if (i === 4) line.set(PLACE.bytes, word, end)
        word = end + 1
      }
      // The request is the last field, and may hold quotes: HAProxy does not escape them.
      const request = requestStart(bytes, word, to)
      if (request < 0 || bytes[to - 1] !== QUOTE || to - 1 < request) return 'its request is cut short'
      setRequestLine(line, request, to - 1)
      return undefined
    },
  }
}

/** The `[` of `[06/Feb/2009:12:14:14.655]`, behind a blank. */
function stampStart(bytes: Buffer, from: number, to: number): number {
  for (let at = find(bytes, OPENING, from, to); at >= 0; at = find(bytes, OPENING, at + 1, to)) {
    if (at >= from + 2 && bytes[at - 1] === SPACE && bytes[at + 3] === SLASH && bytes[at + 7] === SLASH)
      return at
  }
  return -1
}

/** The last of the timers `TR/Tw/Tc/Tr/Ta`, which is all of it, in milliseconds; a plus means that it went on. */
function totalTime(bytes: Buffer, from: number, to: number): number {
  let start = from
  for (let i = from; i < to; i++) if (bytes[i] === SLASH) start = i + 1
  return durationOf(bytes, bytes[start] === 43 ? start + 1 : start, to, 1_000)
}

/** Behind the first blank and quote that no brace of captured headers holds. */
function requestStart(bytes: Buffer, from: number, to: number): number {
  let depth = 0
  for (let i = from; i < to; i++) {
    const byte = bytes[i]
    if (byte === 123) depth = 1
    else if (byte === 125) depth = 0
    else if (byte === QUOTE && depth === 0 && bytes[i - 1] === SPACE) return i + 1
  }
  return -1
}
