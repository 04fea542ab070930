import type { Request } from '@sluice/limiter/rules'
import type { TrafficOptions } from '../simulate/simulate-traffic.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import type { Arrival } from './arrivals.ts'
import type { SentRequest } from './request-template.ts'

/**
 * The requests of logs, at their own times from the first on, `speed` times as fast. Lines that cannot be read are
 * passed over.
 * @param asked what is sent for a request of the log
 * @throws LabError for what cannot be read
 * @example
 * const arrivals = logArrivals(sourcesOf(['access.log']), {}, 10, ({ path = '/' }) => ({
 *   method: 'GET',
 *   path,
 *   headers: {},
 * }))
 */
export async function* logArrivals(
  sources: readonly TrafficSource[],
  traffic: TrafficOptions,
  speed: number,
  asked: (request: Request) => SentRequest,
): AsyncGenerator<Arrival> {
  const make = (request: Request): Omit<Arrival, 'at'> => ({ key: request.ip ?? '', request: asked(request) })
  let first: number | undefined
  for await (const { length, at, made } of readTraffic(sources, { ...traffic, make }, new ReadCounts())) {
    for (let i = 0; i < length; i++) {
      first ??= at[i]!
      yield { ...made[i]!, at: (at[i]! - first) / 1_000 / speed }
    }
  }
}
