import type { Limit } from '@sluice/limiter/rules'
import { identifierOf } from './identifier.ts'
import { madeRules } from './limits/made-rules.ts'
import { bucketForWindow, figure, type Shape, shapeOf, shapeText, timeText } from './limits/shape.ts'
import { nginxKey } from './nginx/key.ts'
import { networkMap } from './nginx/maps.ts'
import { comment, shown, withNotes } from './notes.ts'
import type { ExportTarget } from './target.ts'

/** What a state takes in a zone: 128 bytes on 64-bit machines, with an address as its key. */
const STATE_BYTES = 128
const MIB = 1_048_576

/** limit_req for rates, limit_conn for requests at one time; a file to include in `http { … }`. */
export const nginx: ExportTarget = {
  write(domain, keys) {
    const { rules, notes } = madeRules(domain, (limit) => ruleOf(limit, keys))
    const intro = [
      `Limits of ${shown(domain.name)}, by sluice export nginx. Include this file in http { }, once.`,
      'A server or location with a limit_req or limit_conn of its own does not have these.',
      'Each nginx counts for itself. Where a zone is full, the states that were unused longest go.',
    ]
    const body = [
      'limit_req_status 429;',
      'limit_conn_status 429;',
      ...networkMaps(rules),
      ...rules.flatMap(({ lines }) => ['', ...lines]),
    ]
    return withNotes(intro, body, notes)
  },
}

interface NginxRule {
  readonly lines: readonly string[]
  readonly networks: readonly { readonly v4: number; readonly v6: number }[]
  readonly differences: readonly string[]
}

/** Each once, in the order in which rules first need them. */
function networkMaps(rules: readonly NginxRule[]): string[] {
  const maps = new Map<string, readonly string[]>()
  for (const { v4, v6 } of rules.flatMap(({ networks }) => networks))
    maps.set(`${v4}/${v6}`, networkMap(v4, v6))
  return [...maps.values()].flat()
}

function ruleOf(limit: Limit, keys: number): NginxRule | string {
  const id = identifierOf(limit.name)
  const key = nginxKey(limit, id)
  if (typeof key === 'string') return key
  const shape = shapeOf(limit)
  const limiting = shape.kind === 'slots' ? slots(shape) : rate(shape)
  if (typeof limiting === 'string') return limiting
  const { zone, use, differences } = limiting
  const size = `${Math.max(1, Math.ceil((keys * STATE_BYTES) / MIB))}m`
  return {
    networks: key.networks,
    differences,
    lines: [
      comment(`${shown(limit.name)}: ${shapeText(shape)}`),
      ...key.lines,
      `${zone.replace('KEY', `${key.variable} zone=sluice_${id}:${size}`)};`,
      `${use.replace('ZONE', `sluice_${id}`)};`,
    ],
  }
}

interface Limiting {
  /** The directive that makes the zone, with KEY for its key and name. */
  readonly zone: string
  /** The directive that uses it, with ZONE for its name. */
  readonly use: string
  readonly differences: readonly string[]
}

/** nginx has 65,535 connections of a key at most, and keeps them until their requests end. */
function slots({ limit, period }: Shape): Limiting | string {
  if (limit > 65_535) return `nginx counts at most 65535 at one time, and it allows ${limit}`
  return {
    zone: 'limit_conn_zone KEY',
    use: `limit_conn ZONE ${limit}`,
    differences: [
      `a request is counted until it ends, also past ${timeText(period)}; one that it refuses has been counted by the rates`,
    ],
  }
}

/** nginx admits `burst` on top of the first request: one less than the rule's. */
function rate(shape: Shape): Limiting | string {
  const { kind, limit, period, burst } = shape
  if (kind === 'log' || kind === 'sliding') {
    return `its window slides, and limit_req is a bucket: up to ${2 * limit - 1} would pass in ${timeText(period)}, where the rule admits ${kind === 'log' ? limit : `${limit} or little more`}`
  }
  const perSecond = (limit * 1_000) / period
  const perMinute = perSecond * 60
  const isWhole = [perSecond, perMinute].some((each) => Number.isSafeInteger(each) && each > 0)
  if (!isWhole) {
    return `${limit} in ${timeText(period)} is ${figure(perMinute)} a minute, and nginx has whole rates per second or per minute`
  }
  const text = Number.isSafeInteger(perSecond) ? `${perSecond}r/s` : `${perMinute}r/m`
  const kept = Math.floor(perSecond * 1_000 + 1e-9) / 1_000
  const slower = 1 - kept / perSecond
  const waits = kind === 'queue' ? '' : ' nodelay'
  return {
    zone: `limit_req_zone KEY rate=${text}`,
    use: `limit_req zone=ZONE${burst > 1 ? ` burst=${burst - 1}${waits}` : ''}`,
    differences: [
      ...(slower > 1e-9
        ? [
            `nginx keeps rates in thousandths of a request per second: ${figure(kept * 60)} a minute, ${figure(slower * 100)} % fewer`,
          ]
        : []),
      ...(kind === 'window' ? [bucketForWindow(shape)] : []),
    ],
  }
}
