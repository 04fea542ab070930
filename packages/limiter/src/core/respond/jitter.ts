import { hashToUnit } from '../identify/hash-to-unit.ts'

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
  return share > 0 ? waitMs * (1 + share * hashToUnit(key, seed)) : waitMs
}
