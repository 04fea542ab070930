import { plainText } from '../escapes.ts'
import { InstantReader } from '../instant-reader.ts'
import { PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { closingQuote, durationOf, find, setLastAddress, setRequestLine, wordEnd } from '../line-scan.ts'

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
      const request = closingQuote(bytes, stamp + 3, to)
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
      return setQuoted(bytes, word, to, line)
    },
  }
}

const CUT_SHORT = 'the line is cut short or its quotes do not match'

/** The five quoted texts at the end. */
function setQuoted(
  bytes: Buffer,
  from: number,
  to: number,
  line: Parameters<LineReader['read']>[3],
): string | undefined {
  let at = from
  for (let i = 0; i < 5; i++) {
    if (bytes[at] !== QUOTE || at >= to) return CUT_SHORT
    const end = closingQuote(bytes, at + 1, to)
    if (end < 0) return CUT_SHORT
    if (i === 0) setLastAddress(line, at + 1, end)
    else if (i === 1) line.setGiven(PLACE['user-agent'], at + 1, end)
    else if (i === 3) line.setGiven(PLACE.host, at + 1, end)
    at = end + (bytes[end + 1] === SPACE ? 2 : 1)
  }
  return undefined
}
