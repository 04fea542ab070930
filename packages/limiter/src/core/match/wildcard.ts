/**
 * A test for a pattern in which each `*` stands for any run of characters, none included. `ba*r` holds for `bar`
 * and `bazaar`; there are no escapes. Takes time in proportion to the text, whatever the pattern.
 * @example
 * wildcard('ba*r')('bazaar') // true
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const pieces = pattern.split('*')
  const first = pieces.shift()!
  const last = pieces.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let from = first.length
    for (const piece of pieces) {
      const at = text.indexOf(piece, from)
      if (at < 0) return false
      from = at + piece.length
    }
    return from + last.length <= text.length
  }
}
