import { plainText } from '../escapes.ts'
import { InstantReader } from '../instant-reader.ts'
import { PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { closingQuote, durationOf, setAddress, setRequestLine, wordEnd } from '../line-scan.ts'

const QUOTE = 34
const NOT_ALB =
  'it is no line of an Application Load Balancer, such as https 2018-07-02T22:23:00.186641Z app/NAME/ID 192.0.2.1:2817 …'

/** Access logs of AWS Application Load Balancers. They state when the answer was sent; the request came that much earlier. */
export function albReader(): LineReader {
  const instants = new InstantReader()
  return {
    attributes: [],
    text: plainText,
    read(bytes, from, to, line) {
      line.clear(bytes)
      // type time elb client target three times of processing, two statuses, received, sent
      let word = from
      let taken = 0
      for (let i = 0; i < 12; i++) {
        const end = wordEnd(bytes, word, to)
        if (end <= word) return NOT_ALB
        if (i === 1) line.at = instants.iso(bytes, word, end)
        else if (i === 3) setAddress(line, word, end)
        else if (i >= 5 && i <= 7) taken += Math.max(0, durationOf(bytes, word, end, 1_000_000))
        else if (i === 8) line.setGiven(PLACE.status, word, end)
        else if (i === 11) line.set(PLACE.bytes, word, end)
        word = end + 1
      }
      if (!(line.at >= 0)) return NOT_ALB
      const request = closingQuote(bytes, word + 1, to)
      if (bytes[word] !== QUOTE || request < 0) return 'its request is cut short'
      setRequestLine(line, word + 1, request)
      const agent = closingQuote(bytes, request + 3, to)
      if (bytes[request + 2] === QUOTE && agent > 0) line.setGiven(PLACE['user-agent'], request + 3, agent)
      line.duration = taken
      line.at -= taken
      return undefined
    },
  }
}
