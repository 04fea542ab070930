import { ConfigError } from '../../errors.ts'
import { daysTo } from './civil.ts'

export const DAY = 86_400

/** What a zone's clocks show. */
export interface LocalTime {
  readonly year: number
  /** 1–12. */
  readonly month: number
  /** Seconds from 1970-01-01 00:00 as these clocks count them. */
  readonly seconds: number
}

/** What a zone's clocks show at an instant, in seconds since the epoch. */
export type LocalClock = (instant: number) => LocalTime

/** @throws ConfigError when `zone` is not an IANA name. Offsets such as `+02:00` are none; `Etc/GMT-2` is. */
export function clockOf(zone: string): LocalClock {
  const format = formatOf(zone)
  return (instant) => {
    const parts = format.formatToParts(instant * 1_000).map(({ type, value }) => [type, Number(value)])
    const { year, month, day, hour, minute, second } = Object.fromEntries(parts) as Record<string, number> &
      Fields
    return { year, month, seconds: daysTo(year, month, day) * DAY + hour * 3_600 + minute * 60 + second }
  }
}

/**
 * The first instant at which a zone's clocks show `local` seconds or later: the earlier of two where they were set
 * back, the end of the gap where they skipped it.
 */
export function firstInstant(clock: LocalClock, local: number): number {
  const offsetAt = (instant: number): number => clock(instant).seconds - instant
  // No offset reaches a day, and no zone has changed its own twice within two.
  let same = local - DAY
  let changed = local + DAY
  const before = offsetAt(same)
  const after = offsetAt(changed)
  if (before === after) return local - before
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2)
    if (offsetAt(middle) === before) same = middle
    else changed = middle
  }
  return local - before < changed ? local - before : Math.max(changed, local - after)
}

type Fields = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    // Newer engines would take an offset.
    if (typeof zone !== 'string' || !/^[a-z]/i.test(zone))
      throw new RangeError('a zone is named by its place')
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (cause) {
    const word = String(zone).slice(0, 40)
    const nearest = nearestZone(word)
    const hint = nearest === undefined ? 'write a name such as Europe/Paris' : `did you mean ${nearest}?`
    throw new ConfigError(`${JSON.stringify(word)} is not an IANA time zone: ${hint}`, { cause })
  }
}

/** Of every zone, once one was misspelt. */
const zonePairs = new Map<string, ReadonlySet<string>>()

/** The zone that shares most pairs of letters with `word`, by Dice's coefficient: `paris` is near `Europe/Paris`. */
function nearestZone(word: string): string | undefined {
  const pairs = pairsOf(word)
  let nearest: string | undefined
  let best = 0.4
  if (zonePairs.size === 0) {
    for (const zone of Intl.supportedValuesOf('timeZone')) zonePairs.set(zone, pairsOf(zone))
  }
  for (const [zone, others] of zonePairs) {
    const shared = [...pairs].filter((pair) => others.has(pair)).length
    const likeness = (2 * shared) / (pairs.size + others.size)
    if (likeness > best) [nearest, best] = [zone, likeness]
  }
  return nearest
}

function pairsOf(text: string): Set<string> {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '')
  return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, i) => letters.slice(i, i + 2)))
}
