/** Answers kept; at the next, all are dropped. */
const MOST_ANSWERS = 1_024

/** The same function of a text, which does not work an answer out twice in a row; `undefined` is never kept. */
export function memoized<T>(find: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const found = find(text)
    if (found === undefined) return found
    if (known.size >= MOST_ANSWERS) known.clear()
    known.set(text, found)
    return found
  }
}

/**
 * A header's name in lower case, for what would lower it anyway: a new text each time is looked up by its letters, one
 * that is the same each time by itself.
 */
export const lowerCase: (name: string) => string = memoized((name) => name.toLowerCase())
