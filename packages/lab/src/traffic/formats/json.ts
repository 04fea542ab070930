import { InstantReader } from '../instant-reader.ts'
import { FIELDS, type LineFields, PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import {
  bracketEnd,
  closingQuote,
  durationOf,
  find,
  setAddress,
  setLastAddress,
  setRequestLine,
} from '../line-scan.ts'
import type { JsonMap } from './json-maps.ts'

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const COMMA = 44
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const CUT_SHORT = 'its JSON is cut short or broken'
const MOST_DEPTH = 64

/** One member that is looked for. */
interface Wanted {
  readonly name: Buffer
  /** Where its value goes, and how much it counts against other names for the same: less wins. */
  readonly place: number
  readonly rank: number
  /** What is looked for within it. */
  readonly inner: Wanted[]
}

/** Reads lines that are one JSON object each. Only the wanted members are looked at; the rest is passed over. */
export function jsonReader(map: JsonMap): LineReader {
  const attributes = Object.keys(map.fields).filter(
    (name) => !(FIELDS as readonly string[]).includes(name) && !SPECIAL.includes(name),
  )
  const places = FIELDS.length + attributes.length
  const time = places
  const special = (name: string): number => places + 1 + SPECIAL.indexOf(name)
  const wanted: Wanted[] = []
  map.time.forEach((path, rank) => void want(wanted, path, time, rank))
  for (const [name, paths] of Object.entries(map.fields)) {
    const place = SPECIAL.includes(name)
      ? special(name)
      : name in PLACE
        ? PLACE[name as keyof typeof PLACE]
        : FIELDS.length + attributes.indexOf(name)
    paths.forEach((path, rank) => void want(wanted, path, place, rank))
  }
  const found = new FoundValues(places + 1 + SPECIAL.length)
  const instants = new InstantReader()
  return {
    attributes,
    text: jsonText,
    read(bytes, from, to, line) {
      let start = from
      while (start < to && isBlank(bytes[start]!)) start++
      if (start === to) return 'the line is empty'
      if (bytes[start] !== OPEN_OBJECT) return 'it is no JSON object'
      line.clear(bytes)
      found.from.fill(-1)
      const end = readObject(bytes, start, to, wanted, found, 0)
      if (end < 0) return CUT_SHORT
      for (let i = end; i < to; i++) if (!isBlank(bytes[i]!)) return CUT_SHORT
      if (found.from[time]! < 0) return `it has no time: ${map.time.join(', ')}`
      const at = instants.any(bytes, found.from[time]!, found.to[time]!)
      if (!(at >= 0)) return 'its time is none that is known, such as 2026-01-31T10:05:03Z or 1769853903.25'
      line.at = at
      setFound(line, found, places)
      const [requestFrom, requestTo] = found.at(special('request'))
      if (requestFrom >= 0) setRequestLine(line, requestFrom, requestTo)
      const [forwardedFrom, forwardedTo] = found.at(special('forwarded'))
      if (forwardedTo > forwardedFrom + 1) setLastAddress(line, forwardedFrom, forwardedTo)
      const [takenFrom, takenTo] = found.at(special('duration'))
      if (takenFrom >= 0) line.duration = durationOf(bytes, takenFrom, takenTo, map.ticks)
      if (map.stampedAtEnd && line.duration > 0) line.at = Math.max(0, at - line.duration)
      return undefined
    },
  }
}

/** What is looked for beside fields and attributes. */
const SPECIAL = ['request', 'forwarded', 'duration']

/** Where the wanted values of a line are. */
class FoundValues {
  readonly from: Int32Array
  readonly to: Int32Array
  readonly rank: Int32Array

  constructor(places: number) {
    this.from = new Int32Array(places)
    this.to = new Int32Array(places)
    this.rank = new Int32Array(places)
  }

  at(place: number): [number, number] {
    return [this.from[place]!, this.to[place]!]
  }

  note({ place, rank }: Wanted, from: number, to: number): void {
    if (place < 0 || to <= from || (this.from[place]! >= 0 && this.rank[place]! <= rank)) return
    this.from[place] = from
    this.to[place] = to
    this.rank[place] = rank
  }
}

function setFound(line: LineFields, found: FoundValues, places: number): void {
  for (let place = 0; place < places; place++) {
    const from = found.from[place]!
    if (from < 0) continue
    if (place === PLACE.ip) setAddress(line, from, found.to[place]!)
    else line.setGiven(place, from, found.to[place]!)
  }
}

/** Files a path such as `request.headers.Referer`, both as objects within objects and as one name with dots. */
function want(list: Wanted[], path: string, place: number, rank: number): void {
  const parts = path.split('.')
  for (let i = 1; i <= parts.length; i++) {
    const name = Buffer.from(parts.slice(0, i).join('.'))
    let entry = list.find((each) => each.name.equals(name))
    const own = i === parts.length
    if (entry === undefined || (own && entry.place >= 0 && entry.place !== place)) {
      entry = { name, place: own ? place : -1, rank, inner: [] }
      list.push(entry)
    } else if (own && entry.place < 0) {
      list[list.indexOf(entry)] = entry = { ...entry, place, rank }
    }
    if (!own) want(entry.inner, parts.slice(i).join('.'), place, rank)
  }
}

/** @returns where it ends; −1 where it is cut short or no object */
function readObject(
  bytes: Buffer,
  from: number,
  to: number,
  wanted: readonly Wanted[],
  found: FoundValues,
  depth: number,
): number {
  if (depth > MOST_DEPTH) return -1
  let i = skipBlanks(bytes, from + 1, to)
  if (bytes[i] === CLOSE_OBJECT && i < to) return i + 1
  while (i < to && bytes[i] === QUOTE) {
    const nameEnd = closingQuote(bytes, i + 1, to)
    if (nameEnd < 0) return -1
    const nameStart = i + 1
    i = skipBlanks(bytes, nameEnd + 1, to)
    if (bytes[i] !== COLON) return -1
    i = readValue(bytes, skipBlanks(bytes, i + 1, to), to, wanted, nameStart, nameEnd, found, depth)
    if (i < 0) return -1
    i = skipBlanks(bytes, i, to)
    if (i >= to) return -1
    if (bytes[i] === CLOSE_OBJECT) return i + 1
    if (bytes[i] !== COMMA) return -1
    i = skipBlanks(bytes, i + 1, to)
  }
  return -1
}

/** Reads a member's value, and notes it where its name is wanted. */
function readValue(
  bytes: Buffer,
  from: number,
  to: number,
  wanted: readonly Wanted[],
  nameStart: number,
  nameEnd: number,
  found: FoundValues,
  depth: number,
): number {
  let inner: readonly Wanted[] = NOTHING
  let last = -1
  for (let w = 0; w < wanted.length; w++) {
    const each = wanted[w]!
    if (!isName(bytes, nameStart, nameEnd, each.name)) continue
    if (each.inner.length > 0) inner = inner.length > 0 ? [...inner, ...each.inner] : each.inner
    last = w
  }
  if (bytes[from] === OPEN_OBJECT) return readObject(bytes, from, to, inner, found, depth + 1)
  const end = valueEnd(bytes, from, to)
  if (end < 0 || last < 0) return end
  // Of a list the first value counts: Caddy lists the values of a header.
  let start = from
  let stop = end
  if (bytes[from] === OPEN_ARRAY) {
    start = skipBlanks(bytes, from + 1, to)
    if (bytes[start] !== QUOTE) return end
    stop = closingQuote(bytes, start + 1, to) + 1
  }
  if (isNull(bytes, start, stop)) return end
  const quoted = bytes[start] === QUOTE ? 1 : 0
  for (let w = 0; w <= last; w++) {
    const each = wanted[w]!
    if (isName(bytes, nameStart, nameEnd, each.name)) found.note(each, start + quoted, stop - quoted)
  }
  return end
}

const NOTHING: readonly Wanted[] = []

function valueEnd(bytes: Buffer, from: number, to: number): number {
  const first = bytes[from]
  if (first === QUOTE) {
    const end = closingQuote(bytes, from + 1, to)
    return end < 0 ? -1 : end + 1
  }
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return bracketEnd(bytes, from, to)
  let i = from
  while (
    i < to &&
    bytes[i] !== COMMA &&
    bytes[i] !== CLOSE_OBJECT &&
    bytes[i] !== CLOSE_ARRAY &&
    !isBlank(bytes[i]!)
  )
    i++
  return i === from ? -1 : i
}

function isName(bytes: Buffer, from: number, to: number, name: Buffer): boolean {
  if (to - from !== name.length) return false
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name[i]) return false
  return true
}

function isNull(bytes: Buffer, from: number, to: number): boolean {
  return to - from === 4 && bytes[from] === 110 && bytes[from + 1] === 117
}

function skipBlanks(bytes: Buffer, from: number, to: number): number {
  let i = from
  while (i < to && isBlank(bytes[i]!)) i++
  return i
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13
}

function jsonText(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to)
  if (find(bytes, BACKSLASH, from, to) < 0) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text // nginx without escape=json writes \xhh
  }
}
