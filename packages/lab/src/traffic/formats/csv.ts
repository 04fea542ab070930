import { FIELDS, PLACE } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { find, isDigit } from '../line-scan.ts'

/** The column that every such file has: milliseconds from any origin, 0 or more; up to three decimals. */
const TIME_COLUMN = 't_ms'
/** Columns that are no attribute but a fact of the request. */
const FACT_COLUMNS: Readonly<Record<string, number>> = {
  ip: PLACE.ip,
  method: PLACE.method,
  path: PLACE.target,
  host: PLACE.host,
}
const QUOTE = 34
const COMMA = 44
const DOT = 46
const OPEN_QUOTES = 'its quotes do not match'

/**
 * The names in a header line; `undefined` when it is none: a header names {@link TIME_COLUMN}.
 * @returns a text when two columns have one name
 */
export function readHeader(text: string): readonly string[] | string | undefined {
  const columns = splitHeader(text.replace(/^\uFEFF/, ''))?.map((column) => column.trim())
  if (!columns?.includes(TIME_COLUMN)) return undefined
  const twice = columns.find((column, i) => columns.indexOf(column) !== i)
  return twice === undefined ? columns : `two columns are named ${JSON.stringify(twice)}`
}

/** Reads the rows below a header. `key` also stands for user, tenant and API key where no column of that name does. */
export function csvReader(columns: readonly string[]): LineReader {
  const attributes = columns.filter(
    (column) => column !== TIME_COLUMN && !Object.hasOwn(FACT_COLUMNS, column),
  )
  const places = columns.map((column) =>
    column === TIME_COLUMN
      ? -1
      : Object.hasOwn(FACT_COLUMNS, column)
        ? FACT_COLUMNS[column]!
        : FIELDS.length + attributes.indexOf(column),
  )
  return {
    attributes,
    text: unquoted,
    ...(attributes.includes('key') && { identities: ['ip', 'user', 'tenant', 'api-key'] }),
    read(bytes, from, to, line) {
      if (isBlankLine(bytes, from, to)) return 'the line is empty'
      line.clear(bytes)
      line.at = -1
      let at = from
      let count = 0
      for (; at <= to; count++) {
        const end = fieldEnd(bytes, at, to)
        if (end < 0) return OPEN_QUOTES
        const place = places[count]
        if (place === -1) line.at = millisecondsAt(bytes, at, end)
        else if (place !== undefined && end > at) line.set(place, at, end)
        at = end + 1
      }
      if (count !== columns.length) return `${count} fields, where the header has ${columns.length}`
      return line.at < 0 ? `${TIME_COLUMN} must be milliseconds, 0 or more` : undefined
    },
  }
}

function isBlankLine(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! > 32) return false
  return true
}

/** The comma, or the line's end, behind the field at `from`; −1 where its quotes do not match. */
function fieldEnd(bytes: Buffer, from: number, to: number): number {
  if (bytes[from] !== QUOTE || from >= to) {
    const comma = find(bytes, COMMA, from, to)
    const end = comma < 0 ? to : comma
    return find(bytes, QUOTE, from, end) < 0 ? end : -1
  }
  for (let i = from + 1; i < to; i++) {
    if (bytes[i] !== QUOTE) continue
    if (bytes[i + 1] === QUOTE && i + 1 < to) i++
    else return i + 1 === to || bytes[i + 1] === COMMA ? i + 1 : -1
  }
  return -1
}

/** Microseconds of `1500` or `0.001`; −1 for anything else, and past 2^53. */
function millisecondsAt(bytes: Buffer, from: number, to: number): number {
  let value = 0
  let decimals = -1
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    if (byte === DOT && decimals < 0 && i > from) decimals = 0
    else if (isDigit(byte)) {
      value = value * 10 + byte - 48
      if (decimals >= 0) decimals++
    } else return -1
  }
  if (to === from || decimals === 0 || decimals > 3) return -1
  const ticks = value * 10 ** (3 - Math.max(0, decimals))
  return Number.isSafeInteger(ticks) ? ticks : -1
}

function unquoted(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to)
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text
}

/** Fields between commas, quoted where they hold one (RFC 4180, but for line breaks); `undefined` when quotes stay open. */
function splitHeader(text: string): string[] | undefined {
  const fields: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const match = field.exec(text)
    if (match === null) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2]!)
    if (match[3] === '') return fields
  }
}
