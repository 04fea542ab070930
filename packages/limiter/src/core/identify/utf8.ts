/**
 * UTF-8 bytes of a text. A lone surrogate keeps its own three bytes: two broken texts never become one, as they
 * would under U+FFFD.
 */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3)
  let end = 0
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (code < 0x80) bytes[end++] = code
    else {
      const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
      bytes[end++] = (0xf00 >> (more + 1)) | (code >> (6 * more))
      for (let i = more - 1; i >= 0; i--) bytes[end++] = 0x80 | ((code >> (6 * i)) & 0x3f)
    }
  }
  return bytes.slice(0, end)
}
