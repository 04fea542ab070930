import { unescapedText } from '../escapes.ts'
import { InstantReader, NO_INSTANT } from '../instant-reader.ts'
import { type LineFields, PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { closingQuote, find, isDigit, setRequestLine } from '../line-scan.ts'

const SPACE = 32
const QUOTE = 34
const DASH = 45
const OPENING = 91
const CLOSING = 93

const CUT_SHORT = 'the line is cut short or its quotes do not match'

/**
 * The common log format of Apache, nginx and Traefik, and the combined one, which adds referer and user agent; further
 * fields may follow. `either` takes both.
 */
export function accessLogReader(format: 'common' | 'combined' | 'either'): LineReader {
  const instants = new InstantReader()
  return {
    attributes: [],
    text: unescapedText,
    read(bytes, from, to, line) {
      line.clear(bytes)
      const address = find(bytes, SPACE, from, to)
      const user = address <= from ? -1 : find(bytes, SPACE, address + 1, to)
      if (user <= address + 1) return whyNot(bytes, from, to)
      const opening = stampStart(bytes, user + 1, to)
      const closing = opening < 0 ? -1 : find(bytes, CLOSING, opening, to)
      if (closing < 0 || opening - user < 3) return whyNot(bytes, from, to)
      const request = closing + 3
      if (bytes[closing + 1] !== SPACE || bytes[closing + 2] !== QUOTE) return CUT_SHORT
      const end = closingQuote(bytes, request, to)
      if (end < 0 || !isStatusAt(bytes, end + 2, to) || bytes[end + 1] !== SPACE) return CUT_SHORT
      const size = end + 6
      const after = sizeEnd(bytes, size, to)
      if (bytes[end + 5] !== SPACE || after < 0) return CUT_SHORT
      const at = instants.clf(bytes, opening + 1, closing)
      if (at === NO_INSTANT) return whyNot(bytes, from, to)
      if (Number.isNaN(at)) return `no such time: ${bytes.toString('latin1', opening + 1, closing)}`
      if (after < to && bytes[after] !== SPACE) return CUT_SHORT
      if (format !== 'common' && (format === 'combined' || after < to) && !setClient(line, after, to))
        return CUT_SHORT
      line.at = at
      line.set(PLACE.ip, from, address)
      line.setGiven(PLACE.user, user + 1, opening - 1)
      setRequestLine(line, request, end)
      line.set(PLACE.status, end + 2, end + 5)
      line.set(PLACE.bytes, size, after)
      return undefined
    },
  }
}

/** The `[` of ` [17/May/2015:10:05:03 +0000]`: names of users may hold blanks and brackets. */
function stampStart(bytes: Buffer, from: number, to: number): number {
  for (let at = find(bytes, OPENING, from, to); at >= 0; at = find(bytes, OPENING, at + 1, to)) {
    if (bytes[at - 1] === SPACE && bytes[at + 3] === 47 && bytes[at + 7] === 47 && bytes[at + 12] === 58)
      return at
  }
  return -1
}

function isStatusAt(bytes: Buffer, at: number, to: number): boolean {
  return at + 3 < to && isDigit(bytes[at]!) && isDigit(bytes[at + 1]!) && isDigit(bytes[at + 2]!)
}

/** Where the digits, or the dash, that begin at `from` end; −1 where there are none. */
function sizeEnd(bytes: Buffer, from: number, to: number): number {
  if (from >= to) return -1
  if (bytes[from] === DASH) return from + 1
  let end = from
  while (end < to && isDigit(bytes[end]!)) end++
  return end > from ? end : -1
}

/** Referer and user agent, ` "…" "…"`, and anything behind a blank. @returns whether they are there */
function setClient(line: LineFields, from: number, to: number): boolean {
  const { bytes } = line
  if (bytes[from] !== SPACE || bytes[from + 1] !== QUOTE || from + 1 >= to) return false
  const referer = closingQuote(bytes, from + 2, to)
  if (referer < 0 || bytes[referer + 1] !== SPACE || bytes[referer + 2] !== QUOTE) return false
  const agent = closingQuote(bytes, referer + 3, to)
  if (agent < 0 || (agent + 1 < to && bytes[agent + 1] !== SPACE)) return false
  line.setGiven(PLACE.referer, from + 2, referer)
  line.setGiven(PLACE['user-agent'], referer + 3, agent)
  return true
}

const STAMP = /\[\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2}(?:\.\d{1,6})? [+-]\d{4}\]/

function whyNot(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('latin1', from, to)
  if (text.trim() === '') return 'the line is empty'
  if (/^\s*[{[]/.test(text)) return 'it is JSON'
  return STAMP.test(text) ? CUT_SHORT : 'there is no time such as [17/May/2015:10:05:03 +0000]'
}
