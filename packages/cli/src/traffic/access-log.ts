import type { Parsed } from './entry.ts'
import { readTarget } from './target.ts'

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"'
const STAMP = '\\[(\\d{2}\\/[A-Z][a-z]{2}\\/\\d{4}:\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})? [+-]\\d{4})\\]'
const COMMON_LOG = `^(\\S+) \\S+ (.+?) ${STAMP} ${QUOTED} (\\d{3}) (\\d+|-)`
const COMBINED_LOG = ` ${QUOTED} ${QUOTED}(?: .*)?$`

const PATTERNS: Readonly<Record<'common' | 'combined' | 'either', RegExp>> = {
  /** The first seven fields, whatever follows them. */
  common: new RegExp(`${COMMON_LOG}(?: .*)?$`, 's'),
  combined: new RegExp(`${COMMON_LOG}${COMBINED_LOG}`, 's'),
  either: new RegExp(`${COMMON_LOG}(?:${COMBINED_LOG}|$)`, 's'),
}

const LOG_TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d)(?:\.(\d+))? ([+-])(\d\d)(\d\d)$/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** One line of an Apache or nginx access log; a combined one may carry further fields. */
export function readAccessLog(text: string, format: 'common' | 'combined' | 'either'): Parsed {
  const fields = PATTERNS[format].exec(text)
  if (fields === null) return whyNot(text)
  const [, ip, user, stamp, line, status, bytes, referer, agent] = fields
  const at = ticksOfStamp(stamp!)
  if (at === undefined) return `no such time: ${stamp}`
  const [, method, target] = /^([A-Za-z]+) (.*?)(?: HTTP\/\d(?:\.\d)?)?$/s.exec(unescaped(line!)) ?? []
  return {
    at,
    request: {
      ip: ip!,
      ...(method && { method }),
      ...(target && readTarget(target)),
      headers: {
        ...(isGiven(referer) && { referer: unescaped(referer) }),
        ...(isGiven(agent) && { 'user-agent': unescaped(agent) }),
      },
      attributes: {
        ...(user !== '-' && { user: unescaped(user!) }),
        status: Number(status),
        bytes: bytes === '-' ? 0 : Number(bytes),
      },
    },
  }
}

function whyNot(text: string): string {
  if (text.trim() === '') return 'the line is empty'
  if (/^\s*[{[]/.test(text)) return 'it is JSON'
  return new RegExp(STAMP).test(text)
    ? 'the line is cut short or its quotes do not match'
    : 'there is no time such as [17/May/2015:10:05:03 +0000]'
}

function isGiven(field: string | undefined): field is string {
  return field !== undefined && field !== '-' && field !== ''
}

/** Microseconds since the epoch of `17/May/2015:10:05:03 +0000`; `undefined` for a day or an hour that is none. */
function ticksOfStamp(stamp: string): number | undefined {
  const [, day, name, year, hour, minute, second, fraction = '', sign, zoneHour, zoneMinute] =
    LOG_TIME.exec(stamp)!
  const month = MONTHS.indexOf(name!)
  const midnight = Date.UTC(Number(year), month, Number(day))
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1)
  if (month < 0 || new Date(midnight).getUTCDate() !== Number(day)) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60 || Math.abs(offset) > 14 * 60)
    return undefined
  const seconds = midnight / 1_000 + Number(hour) * 3_600 + (Number(minute) - offset) * 60 + Number(second)
  const at = seconds * 1_000_000 + Number(fraction.padEnd(6, '0'))
  return at >= 0 ? at : undefined
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', v: '\v', f: '\f' }

/** Undoes `\"`, `\\`, `\n` and runs of `\xhh`, which are UTF-8. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/((?:\\x[\da-f]{2})+)|\\(.)/gis, (_, bytes: string | undefined, char: string) =>
    bytes === undefined
      ? Object.hasOwn(ESCAPES, char)
        ? ESCAPES[char]!
        : char
      : Buffer.from(bytes.replaceAll(/\\x/gi, ''), 'hex').toString('utf8'),
  )
}
