import type { DescriptorQuery, Request } from '@sluice/limiter/rules'
import { LabError } from '../lab-error.ts'

interface ColumnSource {
  readonly key: string
  /** The value itself, or where a request has it. */
  readonly literal?: string
  readonly column: string
}

const REQUEST_COLUMNS = ['ip', 'method', 'path', 'host'] as const

/**
 * How requests become descriptors: each text is one descriptor of entries `key=COLUMN` or `key='text'` between
 * commas. A request that lacks a column makes no such descriptor.
 * @throws LabError for a text that is none
 * @example
 * descriptorsFrom(["generic_key='slow',remote_address=ip"])({ ip: '192.0.2.1' })
 */
export function descriptorsFrom(texts: readonly string[]): (request: Request) => DescriptorQuery[] {
  const descriptors = texts.map((text) => text.split(',').map((entry) => sourceOf(entry, text)))
  return (request) =>
    descriptors.flatMap((sources) => {
      const entries = sources.map(({ key, literal, column }) => ({
        key,
        value: literal ?? columnOf(request, column),
      }))
      return entries.every(isWhole) ? [{ entries }] : []
    })
}

function sourceOf(entry: string, text: string): ColumnSource {
  const [, key, literal, column] = /^([^=]+)=(?:'(.*)'|([^']+))$/.exec(entry) ?? []
  if (key === undefined) throw new LabError(`descriptor ${text}: write key=COLUMN, or key='text'`)
  return { key, column: column ?? '', ...(literal !== undefined && { literal }) }
}

function columnOf(request: Request, column: string): string | undefined {
  const fact = REQUEST_COLUMNS.find((name) => name === column)
  if (fact !== undefined) return request[fact]
  const { attributes = {} } = request
  const value = Object.hasOwn(attributes, column) ? attributes[column] : undefined
  return value === undefined ? undefined : String(value)
}

function isWhole(entry: { key: string; value: string | undefined }): entry is { key: string; value: string } {
  return entry.value !== undefined
}
