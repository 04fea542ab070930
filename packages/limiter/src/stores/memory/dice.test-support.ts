/** Whole numbers from 0 up to `below`, the same for the same seed: xorshift. */
export function dice(seed: number): (below: number) => number {
  let state = seed | 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
