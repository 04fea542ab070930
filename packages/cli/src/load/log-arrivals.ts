import type { Arrival, AskedRequest } from '@sluice/lab'
import type { Request } from '@sluice/limiter/rules'
import type { LogEntry, Unreadable } from '../traffic/entry.ts'
import { Sorter } from '../traffic/sorter.ts'

/** Lines held, so that those out of order are sent in order. */
const HELD = 10_000

/**
 * The requests of a log, at its own times from its first line on, `speed` times as fast. Lines that cannot be read are
 * passed over.
 * @param asked what is sent for a request of the log
 */
export async function* logArrivals(
  traffic: AsyncIterable<LogEntry | Unreadable>,
  speed: number,
  asked: (request: Request) => AskedRequest,
): AsyncGenerator<Arrival> {
  const sorter = new Sorter(HELD)
  let first: number | undefined
  const arrivalOf = ({ at, request }: LogEntry): Arrival => {
    first ??= at
    return { at: (at - first) / 1_000 / speed, key: request.ip ?? '', request: asked(request) }
  }
  for await (const line of traffic) if (!('reason' in line)) yield* sorter.push(line).map(arrivalOf)
  yield* sorter.flush().map(arrivalOf)
}

/** Path and query, as they were in the log. */
export function targetOf({ path = '/', query }: Request): string {
  return query === undefined ? path : `${path}?${new URLSearchParams(query as Record<string, string>)}`
}
