/** What {@link InstantReader} returns for bytes that are of another form. */
export const NO_INSTANT = -1

const ZERO = 48
const COLON = 58
const DOT = 46
const PLUS = 43
const MINUS = 45
const SLASH = 47
const SPACE = 32
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'
const SECOND = 1_000_000
const DAY = 86_400 * SECOND
const LONGEST_OFFSET = 14 * 60

/**
 * Instants in microseconds since the epoch. It remembers the last date, which most lines share. All its methods return
 * {@link NO_INSTANT} for what looks different, and NaN for an hour or a day that does not exist.
 */
export class InstantReader {
  readonly #last = new Uint8Array(11)
  #length = 0
  #midnight = Number.NaN
  /** Where the time that was read last ends. */
  #end = 0

  /** `17/May/2015:10:05:03 +0000`, with up to six decimals; without a zone it is taken as UTC. */
  clf(bytes: Uint8Array, from: number, to: number): number {
    if (bytes[from + 2] !== SLASH || bytes[from + 6] !== SLASH || bytes[from + 11] !== COLON)
      return NO_INSTANT
    if (!this.#isLast(bytes, from, 11)) {
      const day = twoDigits(bytes, from)
      const year = twoDigits(bytes, from + 7) * 100 + twoDigits(bytes, from + 9)
      const name = String.fromCharCode(bytes[from + 3]!, bytes[from + 4]!, bytes[from + 5]!)
      if (!(day >= 0 && year >= 0) || !/^[A-Z][a-z]{2}$/.test(name)) return NO_INSTANT
      const month = MONTHS.indexOf(name)
      this.#remember(
        bytes,
        from,
        11,
        midnight(year, month < 0 || month % 3 > 0 ? Number.NaN : month / 3, day),
      )
    }
    return this.#withTime(bytes, from + 12, to)
  }

  /** RFC 3339, such as `2018-07-02T22:23:00.186641Z`; the `T` may be a blank, and no zone means UTC. */
  iso(bytes: Uint8Array, from: number, to: number): number {
    const separator = bytes[from + 4]
    if ((separator !== MINUS && separator !== SLASH) || bytes[from + 7] !== separator) return NO_INSTANT
    const between = bytes[from + 10]
    if (between !== 84 && between !== 116 && between !== SPACE) return NO_INSTANT
    return this.dateAndTime(bytes, from, from + 11, to)
  }

  /** The same, of a date and a time that stand apart. @param time where the time begins */
  dateAndTime(bytes: Uint8Array, from: number, time: number, to: number): number {
    if (!this.#isLast(bytes, from, 10)) {
      const year = twoDigits(bytes, from) * 100 + twoDigits(bytes, from + 2)
      const month = twoDigits(bytes, from + 5)
      const day = twoDigits(bytes, from + 8)
      if (!(year >= 0 && month >= 0 && day >= 0)) return NO_INSTANT
      this.#remember(bytes, from, 10, midnight(year, month - 1, day))
    }
    return this.#withTime(bytes, time, to)
  }

  /** A number since the epoch, by its size in seconds, milliseconds, microseconds or nanoseconds. */
  epoch(bytes: Uint8Array, from: number, to: number): number {
    const text = latin1(bytes, from, to)
    const [, whole, fraction = ''] = /^(\d{1,19})(?:\.(\d+))?$/.exec(text) ?? []
    if (whole === undefined) {
      const value = /^\d\.\d+[eE]\+?\d{1,2}$/.test(text) ? Number(text) : Number.NaN
      return Number.isFinite(value) ? this.#scaled(value) : NO_INSTANT
    }
    if (whole.length > 17) return Number(whole.slice(0, -3))
    if (whole.length > 14) return Number(whole)
    const decimals = whole.length > 11 ? 3 : 6
    return Number(whole) * 10 ** decimals + Number(fraction.padEnd(decimals, '0').slice(0, decimals))
  }

  /** Whichever of them it is. */
  any(bytes: Uint8Array, from: number, to: number): number {
    if (to - from >= 19) {
      const at = bytes[from + 2] === SLASH ? this.clf(bytes, from, to) : this.iso(bytes, from, to)
      if (at !== NO_INSTANT) return at
    }
    return this.epoch(bytes, from, to)
  }

  #scaled(value: number): number {
    if (value < 1e11) return Math.round(value * 1e6)
    return Math.round(value < 1e14 ? value * 1e3 : value < 1e17 ? value : value / 1e3)
  }

  #isLast(bytes: Uint8Array, from: number, length: number): boolean {
    if (this.#length !== length) return false
    for (let i = 0; i < length; i++) if (bytes[from + i] !== this.#last[i]) return false
    return true
  }

  #remember(bytes: Uint8Array, from: number, length: number, ticks: number): void {
    for (let i = 0; i < length; i++) this.#last[i] = bytes[from + i]!
    this.#length = length
    this.#midnight = ticks
  }

  /** The remembered day and the time at `from`, which ends the range. */
  #withTime(bytes: Uint8Array, from: number, to: number): number {
    const hour = twoDigits(bytes, from)
    const minute = twoDigits(bytes, from + 3)
    const second = twoDigits(bytes, from + 6)
    if (!(hour >= 0 && minute >= 0 && second >= 0)) return NO_INSTANT
    if (bytes[from + 2] !== COLON || bytes[from + 5] !== COLON || from + 8 > to) return NO_INSTANT
    this.#end = from + 8
    const fraction = bytes[this.#end] === DOT && this.#end < to ? this.#fraction(bytes, this.#end + 1, to) : 0
    const offset = this.#offset(bytes, to)
    if (fraction < 0 || Number.isNaN(offset)) return NO_INSTANT
    if (hour > 23 || minute > 59 || second > 60 || Math.abs(offset) > LONGEST_OFFSET) return Number.NaN
    const at = this.#midnight + (hour * 3_600 + (minute - offset) * 60 + second) * SECOND + fraction
    return at >= 0 ? at : Number.NaN
  }

  /** Microseconds; digits beyond those are cut off. */
  #fraction(bytes: Uint8Array, from: number, to: number): number {
    let value = 0
    let scale = SECOND
    let i = from
    for (; i < to; i++) {
      const digit = bytes[i]! - ZERO
      if (digit < 0 || digit > 9) break
      if (scale > 1) {
        value = value * 10 + digit
        scale /= 10
      }
    }
    this.#end = i
    return i === from ? -1 : value * scale
  }

  /** Minutes east of Greenwich, up to the end of the range; NaN where it is no zone. */
  #offset(bytes: Uint8Array, to: number): number {
    let from = this.#end
    if (from === to) return 0
    if (bytes[from] === SPACE) from++
    if ((bytes[from] === 90 || bytes[from] === 122) && from + 1 === to) return 0
    const sign = bytes[from] === MINUS ? -1 : bytes[from] === PLUS ? 1 : 0
    const minutes = from + (bytes[from + 3] === COLON ? 4 : 3)
    if (sign === 0 || minutes + 2 !== to) return Number.NaN
    return sign * (twoDigits(bytes, from + 1) * 60 + twoDigits(bytes, minutes))
  }
}

/** NaN for a day that its month does not have. */
function midnight(year: number, month: number, day: number): number {
  const ms = Date.UTC(year, month, day)
  const date = new Date(ms)
  if (!(date.getUTCDate() === day && date.getUTCMonth() === month)) return Number.NaN
  return Math.floor((ms * 1_000) / DAY) * DAY
}

/** NaN where they are no digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - ZERO
  const ones = bytes[at + 1]! - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let i = from; i < Math.min(to, from + 40); i++) text += String.fromCharCode(bytes[i]!)
  return text
}
