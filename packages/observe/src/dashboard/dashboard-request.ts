import type { StreamSink } from '../admin/event-streams.ts'
import { HttpError } from '../admin/problem.ts'

/** A request to the dashboard, of whatever server. */
export interface DashboardRequest {
  readonly method: string
  /** Below the place where the dashboard is: `/`, `/v1/live`; `''` where the address lacks the slash at its end. */
  readonly path: string
  readonly query: URLSearchParams
  header(name: string): string | undefined
  /** What the body says. */
  json(): Promise<unknown>
  /** Begins an answer that goes on. */
  open(headers: Readonly<Record<string, string>>): StreamSink
}

export interface DashboardAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer<ArrayBuffer>
}

/** Of a body: the calls that have one name a key. */
const MOST_BYTES = 65_536

/**
 * The path of a request below a place.
 * @param path of the URL
 * @param place such as `/sluice`; `''`: whatever calls the dashboard has cut it off
 * @returns `undefined` where it is elsewhere
 */
export function pathBelow(path: string, place: string): string | undefined {
  if (path === place) return ''
  return path.startsWith(`${place}/`) ? path.slice(place.length) : undefined
}

/** @throws HttpError for what is too long, or no JSON */
export async function jsonOf(chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) throw new HttpError(413, `a body has at most ${MOST_BYTES} bytes`)
    parts.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown
  } catch {
    throw new HttpError(400, 'the body is not JSON')
  }
}
