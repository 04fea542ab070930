import { distance } from 'fastest-levenshtein'

/** Longer names are compared by their beginning, and among more names nothing is sought. */
const COMPARED = 64
const MOST = 1_000

/** The known name that was most likely meant: at most two letters, or a third of them, apart. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length > MOST) return undefined
  const meant = plain(name)
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const other = plain(candidate)
    const apart =
      sorted(meant) === sorted(other) ? Math.min(1, distance(meant, other)) : distance(meant, other)
    const length = Math.max(meant.length, other.length)
    if (apart >= least || apart >= length || apart > Math.max(2, length / 3)) continue
    least = apart
    best = candidate
  }
  return best
}

/** `requestsPerUnit`, `requests-per-unit` and `requests_per_unit` are one name to whoever types them. */
function plain(name: string): string {
  return name
    .slice(0, COMPARED)
    .toLowerCase()
    .replace(/[_\- ]/g, '')
}

/** `delya` and `delay`, whose letters are the same, are one slip apart. */
function sorted(name: string): string {
  return [...name].sort().join('')
}
