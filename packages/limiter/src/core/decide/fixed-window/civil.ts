/** Days from 1970-01-01 to a Gregorian date. Counting years from March puts the leap day last. */
export function daysTo(year: number, month: number, day: number): number {
  const y = month < 3 ? year - 1 : year
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  const daysBefore = Math.floor((153 * ((month + 9) % 12) + 2) / 5) // of the months since March: 0, 31, 61, 92…
  return 365 * y + leapDays + daysBefore + day - 719_469
}

/** Days in a month, 1–12. */
export function monthLength(year: number, month: number): number {
  const next = month === 12 ? daysTo(year + 1, 1, 1) : daysTo(year, month + 1, 1)
  return next - daysTo(year, month, 1)
}
