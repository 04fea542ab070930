/**
 * Gives ranks 0 to `count` − 1, where rank r comes with a weight of 1/(r + 1)^exponent (Zipf's law): a few keys are
 * asked often, and many seldom. Exponent 0: all alike.
 * @param count at most 1,000,000: a table of 8 bytes for each
 * @param random from 0 to below 1
 * @example
 * const rank = zipfRanks(100, 1, Math.random)
 * rank() // 0 twice as often as 1
 */
export function zipfRanks(count: number, exponent: number, random: () => number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) {
    sum += (rank + 1) ** -exponent
    sums[rank] = sum
  }
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sums[middle]! > wanted) high = middle
      else low = middle + 1
    }
    return low
  }
}

/**
 * Numbers from 0 to below 1 that a seed repeats (mulberry32, by Tommy Ettinger, public domain).
 * @example
 * seededRandom(7)() === seededRandom(7)() // true
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
