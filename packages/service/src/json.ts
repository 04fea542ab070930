/**
 * A name that one object of a JSON text has twice, however it is spelt: two readers of such a text would see two
 * requests (RFC 8259 §4). Undefined where there is none. Takes time in proportion to the text.
 * @param text valid JSON
 * @example
 * repeatedName('{"cost":1,"c\\u006fst":0}') // 'cost'
 */
export function repeatedName(text: string): string | undefined {
  // One set for each depth, used again for the next object there: most texts are many small objects.
  const sets: (Set<string> | undefined)[] = []
  const inObject: boolean[] = []
  let depth = -1
  let atName = false
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case OPEN_OBJECT:
        inObject[++depth] = atName = true
        sets[depth]?.clear()
        break
      case OPEN_LIST:
        inObject[++depth] = atName = false
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth--
        atName = false
        break
      case COMMA:
        atName = inObject[depth]!
        break
      case QUOTE: {
        const end = endOfString(text, i)
        if (atName) {
          const name = nameIn(text, i, end)
          const names = sets[depth] ?? new Set()
          sets[depth] = names
          if (names.has(name)) return name
          names.add(name)
          atName = false
        }
        i = end
      }
    }
  }
  return undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  while (text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1
  return i
}

function nameIn(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end)
  return written.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : written
}
