import { CLOSE_LIST, CLOSE_OBJECT, COMMA, endOfText, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-text.ts'

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
        const end = endOfText(text, i)
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

function nameIn(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end)
  return written.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : written
}
