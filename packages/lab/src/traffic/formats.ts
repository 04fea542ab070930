import { nearest } from '@sluice/limiter/errors'
import { LabError } from '../lab-error.ts'
import { accessLogReader } from './formats/access-log.ts'
import { albReader } from './formats/alb.ts'
import { csvReader, readHeader } from './formats/csv.ts'
import { envoyTextReader } from './formats/envoy-text.ts'
import { haproxyReader } from './formats/haproxy.ts'
import { jsonReader } from './formats/json.ts'
import { JSON_MAPS, jsonMapOf } from './formats/json-maps.ts'
import { recordedAnswer, recordReader } from './formats/record.ts'
import { w3cReader } from './formats/w3c.ts'
import { FIELDS, LineFields } from './line-fields.ts'
import type { LineReader } from './line-reader.ts'

/** The formats that can be named. */
export const FORMATS = [
  'combined',
  'common',
  'csv',
  'record',
  'nginx-json',
  'caddy',
  'traefik',
  'envoy',
  'envoy-json',
  'haproxy',
  'alb',
  'w3c',
  'json',
] as const
export type Format = (typeof FORMATS)[number]

export interface FormatOptions {
  /** Default: the one that most of the first lines fit. */
  readonly format?: Format | undefined
  /** Where lines of JSON have the fields of a request: `time=ts,ip=client.ip,path=url`. */
  readonly fields?: string | undefined
  /** Of a record, lines of other domains are passed over. Default: none are. */
  readonly domain?: string | undefined
}

const MAKERS: Readonly<Record<Exclude<Format, 'csv' | 'json' | 'record'>, () => LineReader>> = {
  combined: () => accessLogReader('combined'),
  common: () => accessLogReader('common'),
  'nginx-json': () => jsonReader(JSON_MAPS['nginx-json']),
  caddy: () => jsonReader(JSON_MAPS.caddy),
  traefik: () => jsonReader(JSON_MAPS.traefik),
  envoy: envoyTextReader,
  'envoy-json': () => jsonReader(JSON_MAPS['envoy-json']),
  haproxy: haproxyReader,
  alb: albReader,
  w3c: w3cReader,
}

/**
 * Who reads a file that begins with these lines, and whether the first of them is a header.
 * @throws LabError for a CSV without a header, and a map of fields that is none
 */
export function readerFor(
  head: readonly Buffer[],
  { format, fields, domain }: FormatOptions,
): { readonly reader: LineReader; readonly hasHeader: boolean } {
  if (fields !== undefined) {
    if (format !== undefined && format !== 'json')
      throw new LabError('fields are named for lines of JSON: leave the format out, or say json')
    const map = jsonMapOf(fields)
    if (typeof map === 'string') throw new LabError(`the fields: ${map}`)
    return { reader: jsonReader(map), hasHeader: false }
  }
  if (format === 'json')
    throw new LabError('say where lines of JSON have their fields, such as time=ts,ip=client.ip')
  if (format === undefined || format === 'csv') {
    const columns = headerOf(head[0], format)
    if (columns !== undefined) return { reader: csvReader(columns), hasHeader: true }
  }
  if (format === 'record' || (format === undefined && head.some(isRecord)))
    return { reader: recordReader(domain), hasHeader: false }
  if (format !== undefined && format !== 'csv') return { reader: MAKERS[format](), hasHeader: false }
  return { reader: bestFor(head), hasHeader: false }
}

function headerOf(first: Buffer | undefined, format: Format | undefined): readonly string[] | undefined {
  const columns = readHeader(first?.toString('utf8') ?? '')
  if (typeof columns === 'string') throw new LabError(`the first line is no header: ${columns}`)
  if (columns === undefined && format === 'csv')
    throw new LabError('the first line of a CSV must name its columns, t_ms among them')
  return columns
}

function isRecord(line: Buffer): boolean {
  return recordedAnswer(line.toString('utf8')) !== undefined
}

/** The reader that the most lines fit; of those that are equal, the first. */
function bestFor(head: readonly Buffer[]): LineReader {
  const texts = head.map((line) => line.toString('latin1'))
  if (texts.some((text) => text.startsWith('#Fields:'))) return w3cReader()
  const makers = texts.some((text) => text.trimStart().startsWith('{'))
    ? Object.values(JSON_MAPS)
        .filter(({ mark }) => texts.some((text) => mark.test(text)))
        .map((map) => () => jsonReader(map))
    : [() => accessLogReader('either'), envoyTextReader, haproxyReader, albReader]
  let best: LineReader | undefined
  let most = 0
  for (const make of makers) {
    const read = fitting(make(), head)
    if (read > most) {
      best = make() // anew: a reader may keep something of the lines that it saw
      most = read
    }
  }
  return best ?? accessLogReader('either')
}

function fitting(reader: LineReader, head: readonly Buffer[]): number {
  const line = new LineFields(FIELDS.length + reader.attributes.length)
  return head.filter((bytes) => reader.read(bytes, 0, bytes.length, line) === undefined).length
}

/** @throws LabError with the nearest right name, where one of them is no column whose values can be a cost */
export function checkCost(names: readonly string[], { attributes, asked }: LineReader): void {
  if (asked !== undefined) return // each line has attributes of its own
  const columns = attributes.length > 0 ? attributes : ['bytes', 'status']
  const stray = names.find((name) => !columns.includes(name) && name !== 'bytes' && name !== 'status')
  if (stray === undefined) return
  const hint = nearest(stray, columns)
  throw new LabError(
    `unknown column ${JSON.stringify(stray)}${hint === undefined ? `; there are ${columns.join(', ')}` : ` (did you mean ${JSON.stringify(hint)}?)`}`,
  )
}
