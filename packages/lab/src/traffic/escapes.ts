const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', v: '\v', f: '\f' }

/** Text of a server's log: undoes `\"`, `\\`, `\n` and runs of `\xhh`, which are UTF-8. */
export function unescapedText(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to)
  if (!text.includes('\\')) return text
  return text.replace(/((?:\\x[\da-f]{2})+)|\\(.)/gis, (_, hex: string | undefined, char: string) =>
    hex === undefined
      ? Object.hasOwn(ESCAPES, char)
        ? ESCAPES[char]!
        : char
      : Buffer.from(hex.replaceAll(/\\x/gi, ''), 'hex').toString('utf8'),
  )
}

/** Text as it stands. */
export function plainText(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, to)
}
