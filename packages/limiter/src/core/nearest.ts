/** Longer names are compared by their beginning, and among more names none is looked for. */
const COMPARED = 64
const MOST = 1_000

/**
 * The known name that was most likely meant: at most two letters, or a third of them, different. Case, blanks,
 * dashes and underscores do not count, and neighbouring letters in the wrong order are one difference. `undefined`
 * where none is near.
 * @example
 * nearest('tokn_bucket', ['token-bucket', 'gcra']) // 'token-bucket'
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length > MOST) return undefined
  const meant = plain(name)
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const other = plain(candidate)
    const edits = distance(meant, other)
    const apart = sorted(meant) === sorted(other) ? Math.min(1, edits) : edits
    const length = Math.max(meant.length, other.length)
    if (apart >= least || apart >= length || apart > Math.max(2, length / 3)) continue
    least = apart
    best = candidate
  }
  return best
}

/** `requestsPerUnit`, `requests-per-unit` and `requests_per_unit` count as one name. */
function plain(name: string): string {
  return name
    .slice(0, COMPARED)
    .toLowerCase()
    .replace(/[_\- ]/g, '')
}

/** `delya` and `delay`, which have the same letters, are one slip apart. */
function sorted(name: string): string {
  return [...name].sort().join('')
}

/** Levenshtein's distance, a row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
