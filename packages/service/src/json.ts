import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfText,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-text.ts'

/**
 * A name that one object of a JSON text has twice, however it is spelt: two readers of such a text would see two
 * requests (RFC 8259 §4). Undefined where there is none. Takes time in proportion to the text.
 * @param text valid JSON
 * @param value what it was parsed to
 * @example
 * const text = '{"cost":1,"c\\u006fst":0}'
 * repeatedName(text, JSON.parse(text)) // 'cost'
 */
export function repeatedName(text: string, value: unknown): string | undefined {
  // As many names as were written: none is there twice. Counting them is a third of the work of looking at each.
  return namesIn(text) === namesOf(value) ? undefined : firstRepeated(text)
}

function namesIn(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfText(text, i)
    else if (code === COLON) count++
  }
  return count
}

function namesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) count += namesOf(value[i])
  else for (const name in value) count += 1 + namesOf((value as Record<string, unknown>)[name])
  return count
}

function firstRepeated(text: string): string | undefined {
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
