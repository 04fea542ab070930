import type { Request } from '@sluice/limiter/rules'
import type { LineParser } from './entry.ts'
import { readTarget } from './target.ts'

/** The column that every such file has: milliseconds from any origin, 0 or more; up to three decimals. */
const TIME_COLUMN = 't_ms'
const MILLISECONDS = /^\d+(?:\.\d{1,3})?$/
/** What `key` fills where no column of that name does. */
const IDENTITIES = ['user', 'tenant', 'api-key']
/** Columns that are no attribute but a fact of the request. */
const FACT_COLUMNS = new Set([TIME_COLUMN, 'ip', 'method', 'path', 'host'])

/**
 * The names in a header line; `undefined` when it is none: a header names {@link TIME_COLUMN}.
 * @returns a text when two columns have one name
 */
export function readHeader(text: string): readonly string[] | string | undefined {
  const columns = splitFields(text.replace(/^\uFEFF/, ''))?.map((column) => column.trim())
  if (!columns?.includes(TIME_COLUMN)) return undefined
  const twice = columns.find((column, i) => columns.indexOf(column) !== i)
  return twice === undefined ? columns : `two columns are named ${JSON.stringify(twice)}`
}

/** Reads the rows below a header. */
export function csvParser(columns: readonly string[]): LineParser {
  return (text) => {
    if (text.trim() === '') return 'the line is empty'
    const fields = splitFields(text)
    if (fields === undefined) return 'its quotes do not match'
    if (fields.length !== columns.length)
      return `${fields.length} fields, where the header has ${columns.length}`
    const row = new Map(columns.map((column, i) => [column, fields[i]!]))
    const time = row.get(TIME_COLUMN)!
    const at = Math.round(Number(time) * 1_000)
    if (!MILLISECONDS.test(time) || !Number.isSafeInteger(at))
      return `${TIME_COLUMN} must be milliseconds, 0 or more`
    return { at, request: rowRequest(row) }
  }
}

function rowRequest(row: ReadonlyMap<string, string>): Request {
  const key = row.get('key')
  const path = row.get('path')
  const method = row.get('method')
  const host = row.get('host')
  const ip = row.get('ip') ?? key
  const given = [...row].filter(([column, value]) => !FACT_COLUMNS.has(column) && value !== '')
  const identities = key ? IDENTITIES.map((name) => [name, key]) : []
  return {
    ...(ip && { ip }),
    ...(method && { method }),
    ...(path && readTarget(path)),
    ...(host && { host }),
    attributes: Object.fromEntries([...identities, ...given]),
  }
}

/** Fields between commas, quoted where they hold one (RFC 4180, but for line breaks); `undefined` when quotes stay open. */
function splitFields(text: string): string[] | undefined {
  const fields: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const match = field.exec(text)
    if (match === null) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2]!)
    if (match[3] === '') return fields
  }
}
