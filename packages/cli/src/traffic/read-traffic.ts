import type { Request } from '@sluice/limiter/rules'
import { unknownName } from '../arguments.ts'
import { UsageError } from '../usage-error.ts'
import { readAccessLog } from './access-log.ts'
import { csvParser, readHeader } from './csv.ts'
import type { LineParser, LogEntry, Unreadable } from './entry.ts'
import { linesOf, MAX_LINE, unzipped } from './lines.ts'

export const FORMATS = ['combined', 'common', 'csv'] as const
export type Format = (typeof FORMATS)[number]

export interface TrafficOptions {
  /** Default: CSV where the first line is a header that names `t_ms`, else an access log, common or combined. */
  readonly format?: Format | undefined
  /** Attributes whose sum is a request's cost. */
  readonly cost?: readonly string[] | undefined
}

/**
 * Every line of a log, in its order, but a CSV's header: a request, or a line that is none. Gzip is undone.
 * @throws UsageError for a CSV without a header, or a cost that is no column
 */
export async function* readTraffic(
  bytes: AsyncIterable<Buffer>,
  { format, cost }: TrafficOptions = {},
): AsyncGenerator<LogEntry | Unreadable> {
  let parse: LineParser | undefined
  let number = 0
  for await (const text of linesOf(unzipped(bytes))) {
    number++
    if (parse === undefined) {
      const columns = format === undefined || format === 'csv' ? header(text, format) : undefined
      checkCost(cost, columns ?? ACCESS_LOG_COSTS)
      parse = columns === undefined ? accessLogParser(format) : csvParser(columns)
      if (columns !== undefined) continue
    }
    yield entryOf(number, text, parse, cost)
  }
}

function entryOf(
  line: number,
  text: string | undefined,
  parse: LineParser,
  cost: readonly string[] | undefined,
): LogEntry | Unreadable {
  if (text === undefined) return { line, reason: `longer than ${MAX_LINE} characters` }
  const parsed = parse(text)
  if (typeof parsed === 'string') return { line, reason: parsed }
  if (cost === undefined) return { line, ...parsed }
  const sum = readCost(parsed.request, cost)
  return typeof sum === 'string' ? { line, reason: sum } : { line, ...parsed, cost: sum }
}

function header(text: string | undefined, format: Format | undefined): readonly string[] | undefined {
  const columns = readHeader(text ?? '')
  if (typeof columns === 'string') throw new UsageError(`the first line is no header: ${columns}`)
  if (columns === undefined && format === 'csv') {
    throw new UsageError('the first line of a CSV must name its columns, t_ms among them')
  }
  return columns
}

const ACCESS_LOG_COSTS = ['bytes', 'status']

function checkCost(cost: readonly string[] = [], columns: readonly string[]): void {
  const stray = cost.find((name) => !columns.includes(name))
  if (stray !== undefined) throw new UsageError(unknownName('column', stray, columns))
}

function accessLogParser(format: Format | undefined): LineParser {
  const pattern = format === 'common' || format === 'combined' ? format : 'either'
  return (text) => readAccessLog(text, pattern)
}

function readCost({ attributes = {} }: Request, names: readonly string[]): number | string {
  let sum = 0
  for (const name of names) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    if (value === undefined || !/^\d+$/.test(String(value)))
      return `${name} must be a whole number, to be a cost`
    sum += Number(value)
  }
  return Number.isSafeInteger(sum) ? sum : `its cost is more than 2^53−1`
}
