/**
 * UTF-8 bytes of a text. A lone surrogate keeps its own three bytes: two broken texts never become one, as they
 * would under U+FFFD.
 */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3)
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!
    if (code < 0x80) bytes[end++] = code
    else {
      const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
      if (more === 3) at++
      bytes[end++] = (0xf00 >> (more + 1)) | (code >> (6 * more))
      for (let i = more - 1; i >= 0; i--) bytes[end++] = 0x80 | ((code >> (6 * i)) & 0x3f)
    }
  }
  return bytes.subarray(0, end)
}
