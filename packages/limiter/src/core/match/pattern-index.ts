import type { DescriptorNode } from './descriptor-tree.ts'

/** Finds the first pattern, in file order, that fits an entry; it tries only those that begin as the entry does. */
export function patternIndex(
  patterns: readonly DescriptorNode[],
): (key: string, value: string) => DescriptorNode | undefined {
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
