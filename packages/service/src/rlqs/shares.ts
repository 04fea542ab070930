/**
 * Parts of `total`, whole numbers in proportion to the weights, which add up to `total`. Nobody with a small weight gets
 * less than `least` of an even part, but for rounding.
 * @param total whole, from 0 to 2^32
 * @param weights finite, ≥ 0; all 0 count alike
 * @param least from 0 (by weight alone) to 1 (all alike)
 * @example
 * sharesOf(100, [8, 2], 0.1) // [80, 20]
 * sharesOf(100, [1, 0], 0.1) // [95, 5]
 */
export function sharesOf(total: number, weights: readonly number[], least: number): number[] {
  if (weights.length === 0) return []
  const exact = partsOf(weights, least / weights.length).map((part) => part * total)
  const shares = exact.map(Math.floor)
  let left = total - shares.reduce((sum, share) => sum + share, 0)
  // The largest rests are rounded up; of equal ones the first.
  const order = exact
    .map((_, i) => i)
    .sort((a, b) => exact[b]! - shares[b]! - (exact[a]! - shares[a]!) || a - b)
  for (let i = 0; left !== 0; i = (i + 1) % order.length) {
    const step = left > 0 ? 1 : -1 // below 0 only by errors of rounding
    if (shares[order[i]!]! + step < 0) continue
    shares[order[i]!]! += step
    left -= step
  }
  return shares
}

/** Weights as parts of 1, of which none is below `floor`: what is raised to it is taken from the others by weight. */
function partsOf(weights: readonly number[], floor: number): number[] {
  const raised = new Set<number>()
  for (;;) {
    let sum = 0
    weights.forEach((weight, i) => {
      if (!raised.has(i)) sum += weight
    })
    const rest = 1 - raised.size * floor
    const even = weights.length - raised.size
    const part = (i: number): number => (sum === 0 ? rest / even : (weights[i]! / sum) * rest)
    const low = weights.flatMap((_, i) => (!raised.has(i) && part(i) < floor ? [i] : []))
    if (low.length === 0 || low.length === even)
      return weights.map((_, i) => (raised.has(i) ? floor : part(i)))
    for (const i of low) raised.add(i)
  }
}
