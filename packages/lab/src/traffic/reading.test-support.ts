import type { Request } from '@sluice/limiter/rules'
import type { Unreadable } from './entry.ts'
import { FIELDS, LineFields } from './line-fields.ts'
import type { LineOptions } from './line-maker.ts'
import type { LineReader } from './line-reader.ts'
import { ReadCounts, readSource } from './read-source.ts'
import { requestOfLine } from './request-of-line.ts'
import type { TrafficSource } from './source.ts'

/** What a reader finds in one line, all of it; a text says why it is no request. */
export function readLine(
  reader: LineReader,
  text: string,
): { at: number; request: Request; durationMs?: number } | string {
  const line = new LineFields(FIELDS.length + reader.attributes.length)
  // The line stands amid others, so that whoever reads past its end is seen.
  const bytes = Buffer.from(`"] [${text}"]} "x`)
  const from = 4
  const to = bytes.length - 6
  const reason = reader.read(bytes, from, to, line)
  if (reason !== undefined) return reason
  const places = [...FIELDS, ...reader.attributes].map((_, place) => place)
  return {
    at: line.at,
    request: requestOfLine(line, reader, places),
    ...(line.duration >= 0 && { durationMs: line.duration / 1_000 }),
  }
}

export interface ReadEntry {
  readonly at: number
  readonly request: Request
  readonly cost?: number
}

/** Bytes as a source. */
export function sourceOf(bytes: string | Buffer, name = 'log', size = 1_000): TrafficSource {
  return {
    name,
    size: undefined,
    isRepeatable: true,
    open: async function* () {
      const all = Buffer.from(bytes as string)
      for (let i = 0; i < all.length; i += size) yield all.subarray(i, i + size)
    },
  }
}

/** Reads a whole log. */
export async function readAll(
  bytes: string | Buffer,
  options: Partial<LineOptions<object>> = {},
): Promise<{ entries: ReadEntry[]; unreadable: readonly Unreadable[]; late: number }> {
  const counts = new ReadCounts()
  const entries: ReadEntry[] = []
  const make = (request: Request, cost: number | undefined) => ({
    request,
    ...(cost !== undefined && { cost }),
  })
  const read = readSource<{ request: Request; cost?: number }>(
    sourceOf(bytes),
    { ...options, make, onLine: undefined },
    counts,
  )
  for await (const { length, at, made } of read) {
    for (let i = 0; i < length; i++) entries.push({ at: at[i]!, ...made[i]! })
  }
  return { entries, unreadable: counts.shown, late: counts.late }
}
