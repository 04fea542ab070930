import { InstantReader } from '../instant-reader.ts'
import { type LineFields, PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { durationOf, find } from '../line-scan.ts'

const TAB = 9
const SPACE = 32
const HASH = 35

/** Which fields the columns of IIS and CloudFront fill. */
const COLUMNS: Readonly<Record<string, number>> = {
  'c-ip': PLACE.ip,
  'cs-method': PLACE.method,
  'cs-uri-stem': PLACE.target,
  'cs-uri': PLACE.target,
  'cs-uri-query': PLACE.query,
  'x-host-header': PLACE.host,
  'cs-host': PLACE.host,
  'cs(Host)': PLACE.host,
  'cs-username': PLACE.user,
  'sc-status': PLACE.status,
  'sc-bytes': PLACE.bytes,
  'cs(Referer)': PLACE.referer,
  'cs(User-Agent)': PLACE['user-agent'],
}
const DATE = -2
const TIME = -3
const TAKEN = -4
const OTHER = -1

/**
 * The W3C extended log format: a line of `#Fields:` names the columns, and a later one may name others. IIS parts
 * columns by blanks and says durations in milliseconds; CloudFront by tabs, in seconds. Times are UTC, and say when
 * the answer was sent: the request came `time-taken` earlier.
 */
export function w3cReader(): LineReader {
  const instants = new InstantReader()
  let columns: readonly number[] = []
  let separator = SPACE
  return {
    attributes: [],
    followsLines: true,
    text: webText,
    read(bytes, from, to, line) {
      if (bytes[from] === HASH) {
        const named = columnsOf(bytes.toString('latin1', from, to))
        if (named !== undefined) columns = named
        return ''
      }
      if (columns.length === 0) return 'no line before it names the fields, as #Fields: date time c-ip … does'
      line.clear(bytes)
      separator = find(bytes, TAB, from, to) < 0 ? SPACE : TAB
      const times = setColumns(line, from, to, columns, separator)
      if (typeof times === 'string') return times
      const at =
        times.date < 0 || times.time < 0
          ? -1
          : instants.dateAndTime(bytes, times.date, times.time, times.timeEnd)
      if (!(at >= 0)) return 'it has no date and time'
      if (times.taken >= 0)
        line.duration = durationOf(bytes, times.taken, times.takenEnd, separator === TAB ? 1_000_000 : 1_000)
      line.at = Math.max(0, at - Math.max(0, line.duration))
      return undefined
    },
  }
}

/** `undefined` for a comment that names no columns. */
function columnsOf(text: string): readonly number[] | undefined {
  const [, names] = /^#Fields:\s*(.*)$/.exec(text) ?? []
  const all = names?.trim().split(/\s+/)
  return all?.map((name, i) => {
    if (name === 'date') return DATE
    if (name === 'time') return TIME
    if (name === 'time-taken') return TAKEN
    // The name that the client asked for wins over the distribution's own.
    if (name === 'cs(Host)' && all.indexOf('x-host-header') > i) return OTHER
    return COLUMNS[name] ?? OTHER
  })
}

interface Times {
  date: number
  time: number
  timeEnd: number
  taken: number
  takenEnd: number
}

function setColumns(
  line: LineFields,
  from: number,
  to: number,
  columns: readonly number[],
  separator: number,
): Times | string {
  const times = { date: -1, time: -1, timeEnd: -1, taken: -1, takenEnd: -1 }
  let at = from
  for (let i = 0; i < columns.length; i++) {
    if (at > to) return `${i} fields, where #Fields names ${columns.length}`
    const next = find(line.bytes, separator, at, to)
    const end = next < 0 ? to : next
    const place = columns[i]!
    if (place >= 0) line.setGiven(place, at, end)
    else if (place === DATE) times.date = at
    else if (place === TIME) {
      times.time = at
      times.timeEnd = end
    } else if (place === TAKEN) {
      times.taken = at
      times.takenEnd = end
    }
    at = end + 1
  }
  return at <= to ? `more fields than the ${columns.length} that #Fields names` : times
}

/** Blanks are written as `+` or `%20`; CloudFront encodes what is encoded already once more, which stays. */
function webText(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to).replaceAll('+', ' ')
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
