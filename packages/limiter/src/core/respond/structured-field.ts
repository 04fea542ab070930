/** The largest Integer of a structured field: 15 digits. One digit more, and a parser drops the whole field. */
const MAX_INTEGER = 999_999_999_999_999

/** What a String holds as it is: printable, neither quote nor backslash. */
const PLAIN_STRING = /^[ !#-[\]-~]*$/

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A parameter (RFC 9651 §4.1.1.2), such as `;q=100`, to stand behind its item; nothing where there is no value. */
export function parameter(start: `;${string}=`, value: number | string | Uint8Array | undefined): string {
  return value === undefined ? '' : `${start}${bare(value)}`
}

/** An Integer (RFC 9651 §4.1.4), held to 0…999,999,999,999,999 and cut to a whole number; NaN is 0. */
export function integer(value: number): number {
  return value > 0 ? Math.min(Math.floor(value), MAX_INTEGER) : 0
}

/** A String (RFC 9651 §4.1.6): in quotes, with `"` and `\` escaped. */
export function string(value: string): string {
  if (PLAIN_STRING.test(value)) return `"${value}"`
  return `"${headerText(value).replace(/["\\]/g, '\\$&')}"`
}

/** A Byte Sequence (RFC 9651 §4.1.8): padded base64 between colons. */
export function bytes(value: Uint8Array): string {
  let text = ''
  for (let i = 0; i < value.length; i += 3) {
    const left = value.length - i
    const three = (value[i]! << 16) | ((value[i + 1] ?? 0) << 8) | (value[i + 2] ?? 0)
    text += BASE64[three >> 18]! + BASE64[(three >> 12) & 63]!
    text += left > 1 ? BASE64[(three >> 6) & 63]! : '='
    text += left > 2 ? BASE64[three & 63]! : '='
  }
  return `:${text}:`
}

/** What a digit of base64 stands for, 0–63; −1 for any other character. */
export function base64Value(digit: string): number {
  return BASE64.indexOf(digit)
}

/** The text with `?` for whatever no header may carry: names are checked when rules are built, this is the last line. */
export function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}

function bare(value: number | string | Uint8Array): string | number {
  if (typeof value === 'number') return integer(value)
  return typeof value === 'string' ? string(value) : bytes(value)
}
