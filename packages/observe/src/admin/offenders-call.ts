import {
  OFFENDER_WINDOWS,
  type OffenderList,
  type Offenders,
  type OffendersQuery,
} from '@sluice/limiter/offenders'
import { type EventSource, eventText } from './event-streams.ts'
import { HttpError } from './problem.ts'

/** Seconds between the events of a stream. */
const EVERY = 5
const MOST_KEYS = 1_000
const PARAMETERS = ['domain', 'policy', 'window', 'top']

/**
 * `GET /v1/offenders`: the keys that each policy refuses most, and those that come most often; and the same as a stream,
 * every 5 seconds.
 * @param show a key as it is shown
 * @throws HttpError for parameters that are wrong
 * @example
 * offendersCall(offenders, keyShown('hashed'), { window: '1d' }).body()
 */
export function offendersCall(
  offenders: Offenders,
  show: (key: string) => string,
  parameters: Readonly<Record<string, unknown>>,
): { readonly body: () => object; readonly stream: () => EventSource } {
  const query = readQuery(parameters)
  const body = (): object => ({
    leftOut: offenders.leftOut,
    lists: offenders.list(query).map((list) => listBody(list, show)),
  })
  const event = (): string => eventText('offenders', body())
  return {
    body,
    stream: () => ({ first: event(), ticked: (tick) => (tick % EVERY === 0 ? event() : undefined) }),
  }
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
