/** How often one key came: at least and at most. */
export interface CountedKey {
  readonly key: string
  readonly atLeast: number
  readonly atMost: number
  /** Of a key over a limit: the routes on which it was, those first where it was most often; absent where none is known. */
  readonly routes?: readonly CountedRoute[]
}

/** A route (`GET /users/:id`), and how often it came at least. */
export interface CountedRoute {
  readonly route: string
  readonly atLeast: number
}

/** The most frequent keys of a stream, and how far that can be wrong. */
export interface KeyCounts {
  /** Keys that came. */
  readonly total: number
  /** A key that is not listed came at most so many times. */
  readonly unlisted: number
  /** The highest `atMost` first. */
  readonly keys: readonly CountedKey[]
}

export const NO_COUNTS: KeyCounts = { total: 0, unlisted: 0, keys: [] }

/**
 * Several streams as one. Where each part keeps at least `most` keys, or all that it has seen, the bound of
 * {@link SpaceSaving} holds for the whole: with N keys in all, every key that came more than N/most times is listed, and
 * no figure is wrong by more than N/most. A part that lists fewer keys adds what it says of the unlisted.
 *
 * Proof: let a part with N_j keys have the floor E_j (`unlisted`), and a = `atMost` − E_j for each key that it lists.
 * The sum of its a is at most N_j − most·E_j. So the sums A of all a of a key add up to at most N − most·E, where E is
 * the sum of the floors. The first key that is cut off has A ≤ (N − most·E) / (most + 1), so it came at most
 * A + E ≤ N/most times; and what is kept has the property that was assumed of the parts.
 */
export function mergeCounts(parts: readonly KeyCounts[], most: number): KeyCounts {
  const floor = parts.reduce((sum, { unlisted }) => sum + unlisted, 0)
  const merged = new Map<string, { key: string; atLeast: number; atMost: number }>()
  for (const { keys, unlisted } of parts) {
    for (const { key, atLeast, atMost } of keys) {
      const known = merged.get(key) ?? { key, atLeast: 0, atMost: floor }
      known.atLeast += atLeast
      known.atMost += atMost - unlisted
      merged.set(key, known)
    }
  }
  const total = parts.reduce((sum, part) => sum + part.total, 0)
  return cutCounts({ total, unlisted: floor, keys: [...merged.values()].sort(byMost) }, most)
}

/** The first keys alone. */
export function cutCounts({ total, unlisted, keys }: KeyCounts, most: number): KeyCounts {
  const cut = keys[most]
  return {
    total,
    unlisted: Math.max(unlisted, cut?.atMost ?? 0),
    keys: cut === undefined ? keys : keys.slice(0, most),
  }
}

function byMost(a: { key: string; atMost: number }, b: { key: string; atMost: number }): number {
  return b.atMost - a.atMost || (a.key < b.key ? -1 : 1)
}
