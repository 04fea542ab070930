import { plainText } from '../escapes.ts'
import { InstantReader } from '../instant-reader.ts'
import { type LineFields, PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { durationOf, find, isDigit, setLastAddress, setRequestLine, wordEnd } from '../line-scan.ts'

const SPACE = 32
const QUOTE = 34

/**
 * Envoy's default access log: `[start] "request" status flags received sent duration upstream "forwarded for" "agent"
 * "request id" "authority" "upstream host"`; durations are milliseconds. The client is the last address forwarded.
 */
export function envoyTextReader(): LineReader {
  const instants = new InstantReader()
  return {
    attributes: [],
    text: plainText,
    read(bytes, from, to, line) {
      line.clear(bytes)
      if (bytes[from] !== 91) return 'there is no time such as [2016-04-15T20:17:00.310Z]'
      const stamp = find(bytes, 93, from, to)
      const at = stamp < 0 ? -1 : instants.iso(bytes, from + 1, stamp)
      if (!(at >= 0)) return 'there is no time such as [2016-04-15T20:17:00.310Z]'
      line.at = at
      const request = requestEnd(bytes, stamp + 3, to)
      if (bytes[stamp + 2] !== QUOTE || request < 0) return CUT_SHORT
      setRequestLine(line, stamp + 3, request)
      // Six words: status, flags, received, sent, duration, upstream's duration.
      let word = request + 2
      for (let i = 0; i < 6; i++) {
        const end = wordEnd(bytes, word, to)
        if (i === 0) line.set(PLACE.status, word, end)
        else if (i === 3) line.setGiven(PLACE.bytes, word, end)
        else if (i === 4) line.duration = durationOf(bytes, word, end, 1_000)
        word = end + 1
      }
      return setQuoted(line, word, to)
    },
  }
}

const CUT_SHORT = 'the line is cut short or its quotes do not match'

/** The quote before a status: Envoy writes quotes that a client sent as they are. */
function requestEnd(bytes: Buffer, from: number, to: number): number {
  for (let at = find(bytes, QUOTE, from, to); at >= 0; at = find(bytes, QUOTE, at + 1, to)) {
    const isStatus = isDigit(bytes[at + 2]!) && (bytes[at + 3] === SPACE || isDigit(bytes[at + 4]!))
    if (bytes[at + 1] === SPACE && isStatus) return at
  }
  return -1
}

/**
 * The five quoted texts at the end: address, agent, request id, authority, upstream host. The agent is what is left
 * between the first and the last three, since it may hold quotes.
 */
function setQuoted(line: LineFields, from: number, to: number): string | undefined {
  const { bytes } = line
  if (bytes[from] !== QUOTE || bytes[to - 1] !== QUOTE) return CUT_SHORT
  const address = partEnd(bytes, from + 1, to)
  const upstream = partStart(bytes, to - 1, from)
  const authority = partStart(bytes, upstream - PART, from)
  const id = partStart(bytes, authority - PART, from)
  if (address < 0 || upstream < 0 || authority < 0 || id < address + 2 * PART) return CUT_SHORT
  setLastAddress(line, from + 1, address)
  line.setGiven(PLACE['user-agent'], address + PART, id - PART)
  line.setGiven(PLACE.host, authority, upstream - PART)
  return undefined
}

/** What parts two quoted texts: `" "`. */
const PART = 3

function isPart(bytes: Buffer, at: number): boolean {
  return bytes[at] === QUOTE && bytes[at + 1] === SPACE && bytes[at + 2] === QUOTE
}

function partEnd(bytes: Buffer, from: number, to: number): number {
  for (let i = from; i + 2 < to; i++) if (isPart(bytes, i)) return i
  return -1
}

/** The start of the text that ends before `to`. */
function partStart(bytes: Buffer, to: number, from: number): number {
  for (let i = to - PART; i > from; i--) if (isPart(bytes, i)) return i + PART
  return -1
}
