import {
  OFFENDER_WINDOWS,
  type OffenderList,
  type Offenders,
  type OffendersQuery,
} from '@sluice/limiter/offenders'
import type { App } from '../app.ts'
import { HttpError } from '../problem.ts'
import { type EventStreams, eventText } from './event-streams.ts'

/** Seconds between the events of a stream. */
const EVERY = 5
const MOST_KEYS = 1_000
const PARAMETERS = ['domain', 'policy', 'window', 'top']

/**
 * `GET /v1/offenders`: the keys that each policy refuses most, and those that come most often. With
 * `accept: text/event-stream`, the same every 5 seconds.
 * @param show a key as it is shown
 */
export function offendersRoute(
  app: App,
  offenders: Offenders,
  streams: EventStreams,
  show: (key: string) => string,
): void {
  app.get('/v1/offenders', (request, reply) => {
    const query = readQuery(request.query as Readonly<Record<string, unknown>>)
    const body = (): object => ({
      leftOut: offenders.leftOut,
      lists: offenders.list(query).map((list) => listBody(list, show)),
    })
    if (!/\btext\/event-stream\b/.test(request.headers.accept ?? '')) return reply.send(body())
    streams.add(reply, eventText('offenders', body()), (tick) =>
      tick % EVERY === 0 ? eventText('offenders', body()) : undefined,
    )
  })
}

function listBody({ denied, busiest, ...list }: OffenderList, show: (key: string) => string): OffenderList {
  const shown = ({ keys, ...counts }: OffenderList['denied']): OffenderList['denied'] => ({
    ...counts,
    keys: keys.map((each) => ({ ...each, key: show(each.key) })),
  })
  return { ...list, denied: shown(denied), busiest: shown(busiest) }
}

function readQuery(given: Readonly<Record<string, unknown>>): OffendersQuery {
  for (const [name, value] of Object.entries(given)) {
    if (!PARAMETERS.includes(name))
      throw new HttpError(
        400,
        `there is no parameter ${name.slice(0, 40)}; there are ${PARAMETERS.join(', ')}`,
      )
    if (typeof value !== 'string') throw new HttpError(400, `${name} is given twice`)
  }
  const { domain, policy, window = '5m', top = '10' } = given as Readonly<Record<string, string>>
  const chosen = OFFENDER_WINDOWS.find((each) => each === window)
  if (chosen === undefined) throw new HttpError(400, `window must be ${OFFENDER_WINDOWS.join(' or ')}`)
  if (!/^[1-9]\d{0,3}$/.test(top) || Number(top) > MOST_KEYS)
    throw new HttpError(400, `top must be a whole number from 1 to ${MOST_KEYS}`)
  return {
    ...(domain !== undefined && { domain }),
    ...(policy !== undefined && { policy }),
    window: chosen,
    top: Number(top),
  }
}
