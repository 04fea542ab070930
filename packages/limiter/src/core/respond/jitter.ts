/** Lengthens waits, each key's differently, so that those who were refused together do not return together. */
export interface Jitter {
  /** By up to this share of the wait, 0–1. */
  readonly share: number
  readonly key: string
  /** A whole number; the same key and seed give the same length. */
  readonly seed: number
}

/** The wait in milliseconds, lengthened by less than `share` of itself; never shortened. */
export function jittered(waitMs: number, { share, key, seed }: Jitter): number {
  return share > 0 ? waitMs * (1 + share * fraction(key, seed)) : waitMs
}

/** 0 ≤ x < 1, even over keys: FNV-1a over UTF-16 units, with the final mix of MurmurHash3. */
function fraction(key: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
