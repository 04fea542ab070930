import type { Limit } from '@sluice/limiter/rules'
import { haproxyKey } from './haproxy/key.ts'
import { identifierOf } from './identifier.ts'
import { madeRules } from './limits/made-rules.ts'
import { figure, type Shape, shapeOf, shapeText, timeText } from './limits/shape.ts'
import { comment, shown, withNotes } from './notes.ts'
import type { ExportTarget } from './target.ts'

/** Counters that a request may be followed by: sc0, sc1, sc2. */
const MOST_RULES = 3
/** HAProxy keeps times in 31 bits of milliseconds, and a table keeps two periods. */
const MOST_PERIOD = 1_073_741_823

/** Stick tables; a file of sections, from whose `defaults sluice` frontends are made. */
export const haproxy: ExportTarget = {
  write(domain, keys) {
    const { rules, notes } = madeRules(domain, (limit, before) => ruleOf(limit, keys, before))
    const intro = [
      `Limits of ${shown(domain.name)}, by sluice export haproxy. Name this file with -f before your own, and write`,
      'frontend NAME from sluice; timeouts and the like belong to the frontend.',
      'It uses the counters sc0, sc1 and sc2. Each HAProxy counts for itself.',
      'Where a table is full, the keys that were unused longest go.',
    ]
    const body = [
      ...rules.flatMap(({ table }) => table),
      'defaults sluice',
      '  mode http',
      ...rules.flatMap(({ key }) => key),
      ...rules.flatMap(({ refusal }) => refusal),
      ...rules.flatMap(({ count }) => count),
    ]
    return withNotes(intro, body, notes)
  },
}

/** All refusals stand before all counts: a request that is refused is not counted. */
interface HaproxyRule {
  readonly table: readonly string[]
  readonly key: readonly string[]
  readonly refusal: readonly string[]
  readonly count: readonly string[]
  readonly differences: readonly string[]
}

function ruleOf(limit: Limit, keys: number, position: number): HaproxyRule | string {
  const id = `sluice_${identifierOf(limit.name)}`
  const key = haproxyKey(limit, id)
  if (typeof key === 'string') return key
  const shape = shapeOf(limit)
  const counted = countOf(shape)
  if (typeof counted === 'string') return counted
  if (position === MOST_RULES)
    return `HAProxy follows a request by ${MOST_RULES} counters, and the rules before use them`
  const { most, data, read, expire, differences } = counted
  const about = comment(`${shown(limit.name)}: ${shapeText(shape)}`)
  return {
    differences,
    table: [
      about,
      `backend ${id}`,
      `  stick-table type ${key.type} size ${keys} expire ${timeText(expire)} store ${data}`,
      '',
    ],
    key: [`  ${about}`, ...key.lines.map((line) => `  ${line}`)],
    refusal: [`  http-request deny deny_status 429 if { ${key.variable},${read}(${id}) ge ${most} }`],
    count: [`  http-request track-sc${position} ${key.variable} table ${id} if { ${key.variable} -m found }`],
  }
}

interface Counted {
  /** At so many a request is refused. */
  readonly most: number
  readonly data: string
  /** The converter that reads what the table counted. */
  readonly read: string
  readonly expire: number
  readonly differences: readonly string[]
}

/** HAProxy has the sliding window counter, and what is in use at one time. */
function countOf(shape: Shape): Counted | string {
  const { kind, limit, period, burst } = shape
  if (kind === 'queue') return 'it holds requests back, and HAProxy would refuse them'
  if (kind === 'log')
    return `it keeps the time of every request, and HAProxy estimates: up to ${2 * limit - 1} would pass in ${timeText(period)}, where the rule admits ${limit}`
  if (kind === 'slots')
    return {
      most: limit,
      data: 'conn_cur',
      read: 'table_conn_cur',
      expire: period,
      differences: [`a request is counted until it ends, also past ${timeText(period)}`],
    }
  const most = kind === 'bucket' ? burst : limit
  const window = kind === 'bucket' ? Math.ceil((burst * period) / limit) : Math.ceil(period)
  if (window > MOST_PERIOD) return `its window would be ${timeText(window)}, and HAProxy has at most 12 days`
  return {
    most,
    data: `http_req_rate(${timeText(window)})`,
    read: 'table_http_req_rate',
    expire: 2 * window,
    differences: [differenceOf(shape, window)],
  }
}

function differenceOf({ kind, limit, period, burst }: Shape, window: number): string {
  switch (kind) {
    case 'bucket':
      return `it is a sliding count of ${burst} in ${timeText(window)}: the same burst and the same rate in the long run, but after a burst the next request waits up to ${figure((window * (1 + 1 / burst)) / 1_000)} s, where the rule has it wait ${figure(period / limit / 1_000)} s`
    case 'window':
      return `its window slides: ${limit} at once, but around the end of a window the next ${limit} come one by one over ${timeText(window)}, where the rule admits them at once`
    default:
      return `the windows of a key begin with its first request, not with the clock: near the limit up to ${limit} requests of a burst may be decided otherwise, never more than the rule admits at worst`
  }
}
