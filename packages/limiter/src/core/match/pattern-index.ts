/** A pattern over an entry's key and value. */
interface Pattern {
  readonly key: string
  /** As written; absent: any value. */
  readonly value: string | undefined
  readonly fits: ((key: string, value: string) => boolean) | undefined
}

/** Finds the first pattern, in file order, that matches an entry; it tries only those that begin as the entry does. */
export function patternIndex<P extends Pattern>(
  patterns: readonly P[],
): (key: string, value: string) => P | undefined {
  const positions = new Map<string, number[]>()
  patterns.forEach(({ key, value = '' }, position) => {
    const [beginning = ''] = written(key, value).split('*')
    const alike = positions.get(beginning) ?? []
    positions.set(beginning, alike)
    alike.push(position)
  })
  const lengths = new Set([...positions.keys()].map(({ length }) => length))
  return (key, value) => {
    if (patterns.length === 0) return undefined
    const text = written(key, value)
    let first = patterns.length
    for (const length of lengths) {
      const fitting = positions
        .get(text.slice(0, length))
        ?.find((position) => position >= first || patterns[position]!.fits!(key, value))
      if (fitting !== undefined && fitting < first) first = fitting
    }
    return patterns[first]
  }
}

function written(key: string, value: string): string {
  return `${key}\0${value}`
}
