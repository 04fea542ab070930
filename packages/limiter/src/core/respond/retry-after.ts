import { secondsUp } from './seconds.ts'

/** The last second that an IMF-fixdate can write: 31 Dec 9999 23:59:59 GMT. */
const LAST_DATE = 253_402_300_799

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The wait that a refusal tells: whole seconds, rounded up, at least 1; undefined when no wait helps. */
export function retrySeconds(waitMs: number | null): number | undefined {
  return waitMs === null ? undefined : Math.max(1, secondsUp(waitMs))
}

/**
 * The value of Retry-After (RFC 9110 §10.2.3). As a date it counts from the end of the current second, so that it
 * is never before `seconds` have passed. A date past the year 9999 is sent as seconds.
 */
export function retryAfter(seconds: number, form: 'seconds' | 'date', nowMs: number): string {
  const date = secondsUp(nowMs) + seconds
  return form === 'date' && date <= LAST_DATE ? imfFixdate(date) : `${seconds}`
}

/**
 * An HTTP date (RFC 9110 §5.6.7) of whole seconds since the epoch, 0…253,402,300,799: 784,111,777 is
 * `Sun, 06 Nov 1994 08:49:37 GMT`. The civil date is by Howard Hinnant's `civil_from_days`, in eras of 400 years
 * that begin on 1 March: https://howardhinnant.github.io/date_algorithms.html
 */
export function imfFixdate(epochSeconds: number): string {
  const days = Math.floor(epochSeconds / 86_400)
  const second = epochSeconds - days * 86_400
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = (marchMonth + 2) % 12
  const year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
  const time = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60].map(two).join(':')
  return `${DAYS[(days + 4) % 7]}, ${two(day)} ${MONTHS[month]} ${`${year}`.padStart(4, '0')} ${time} GMT`
}

function two(value: number): string {
  return `${value}`.padStart(2, '0')
}
