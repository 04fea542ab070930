import { type BucketPart, isNothing, NOTHING } from './holder.ts'
import { sharesOf } from './shares.ts'

/** One who is to have a part of a quota. */
export interface Claim {
  /** What it is to have in the end. */
  readonly wanted: BucketPart
  /** What it may go by now, whatever it is told. */
  readonly held: BucketPart
}

/**
 * What each may be told now, so that all of it, with what others hold, stays within the room. Whoever wants less gets
 * less. Whoever wants more gets a part of what nobody holds: not of what another one still holds, and will not much longer.
 * @param room the quota without what cannot be changed now
 */
export function apportioned(claims: readonly Claim[], room: BucketPart): readonly BucketPart[] {
  const tokens = numbers(claims, room, 'tokens')
  const burst = numbers(claims, room, 'burst')
  return claims.map((_, i) => {
    const part = { tokens: tokens[i]!, burst: burst[i]! }
    return isNothing(part) ? NOTHING : part
  })
}

function numbers(claims: readonly Claim[], room: BucketPart, of: keyof BucketPart): readonly number[] {
  const kept = claims.map(({ wanted, held }) => Math.min(wanted[of], held[of]))
  // More is held than there is: the limit was lowered.
  if (sum(kept) > room[of]) return sharesOf(Math.max(0, room[of]), kept, 0)
  const needs = claims.map(({ wanted, held }) => Math.max(0, wanted[of] - held[of]))
  const free = Math.max(0, room[of] - sum(claims.map(({ held }) => held[of])))
  const grants = sum(needs) <= free ? needs : sharesOf(free, needs, 0)
  return kept.map((part, i) => part + grants[i]!)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
