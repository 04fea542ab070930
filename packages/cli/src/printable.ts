/** Anything that would steer a terminal, or only looks like nothing: control, format and surrogate characters. */
const UNPRINTABLE = /[\p{C}\u2028\u2029]/gu

/** Text from a log or a request as a terminal may show it, on one line and at most `length` characters long. */
export function printable(text: string, length = 60): string {
  const shown = text.length > length ? `${text.slice(0, length - 1)}…` : text
  return shown.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
