const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * An HTTP date (RFC 9110 §5.6.7) of whole seconds since the epoch, 0…253,402,300,799: 784,111,777 is
 * `Sun, 06 Nov 1994 08:49:37 GMT`.
 */
export function imfFixdate(epochSeconds: number): string {
  const days = Math.floor(epochSeconds / 86_400)
  const second = epochSeconds - days * 86_400
  const { year, month, day } = dateOf(days)
  const time = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60].map(two).join(':')
  return `${DAYS[(days + 4) % 7]}, ${two(day)} ${MONTHS[month]} ${`${year}`.padStart(4, '0')} ${time} GMT`
}

/** `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. */
const DATE_FORMS = /* @__PURE__ */ dateForms()

function dateForms(): readonly RegExp[] {
  const month = `(?<month>${MONTHS.join('|')})`
  const time = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`
  return [
    String.raw`${DAYS.join('|')}), (?<day>\d\d) ${month} (?<year>\d{4}) ${time} GMT$`,
    String.raw`Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-${month}-(?<year>\d\d) ${time} GMT$`,
    String.raw`${DAYS.join('|')}) ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})$`,
  ].map((form) => new RegExp(`^(?:${form}`))
}

/**
 * Whole seconds since the epoch of an HTTP date in any of its three forms (RFC 9110 §5.6.7); undefined for any other
 * text. Instants before 1970 are negative. Whether the day has that name is not checked; a leap second counts as the
 * second after it.
 * @param nowMs the reader's wall clock, milliseconds since the epoch: a year of two digits is of its century, unless
 *   that is more than 50 years ahead
 * @example
 * readHttpDate('Sun, 06 Nov 1994 08:49:37 GMT', 0) // 784111777
 */
export function readHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of DATE_FORMS) {
    const parts = form.exec(text)?.groups
    if (parts !== undefined) return secondsOf(parts, nowMs)
  }
  return undefined
}

function secondsOf(parts: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const year = parts.year!.length === 4 ? Number(parts.year) : fullYear(Number(parts.year), nowMs)
  const month = MONTHS.indexOf(parts.month!)
  const day = Number(parts.day)
  const days = daysSinceEpoch(year, month, day)
  const date = dateOf(days)
  if (date.month !== month || date.day !== day) return undefined
  return days * 86_400 + Number(parts.hour) * 3_600 + Number(parts.minute) * 60 + Number(parts.second)
}

function fullYear(digits: number, nowMs: number): number {
  const now = dateOf(Math.floor(nowMs / 86_400_000)).year
  const year = now - (now % 100) + digits
  return year > now + 50 ? year - 100 : year
}

/**
 * The date so many days after 1 January 1970; January is month 0. This and its inverse are Howard Hinnant's
 * `civil_from_days` and `days_from_civil`, in eras of 400 years that begin on 1 March:
 * https://howardhinnant.github.io/date_algorithms.html
 */
function dateOf(days: number): { year: number; month: number; day: number } {
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
  const month = (marchMonth + 2) % 12
  return {
    year: yearOfEra + era * 400 + (month < 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  }
}

/** The days from 1 January 1970 to a date; a day that the month does not have gives one of the month after it. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month < 2 ? year - 1 : year
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function two(value: number): string {
  return `${value}`.padStart(2, '0')
}
