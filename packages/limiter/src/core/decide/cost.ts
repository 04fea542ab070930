/** A cost for each of some rules or policies, by their names. */
export type CostByName<Name extends string = string> = { readonly [Policy in Name]?: number }

/**
 * Whether a value can be a cost: a whole number from 0 to 2^53−1.
 * @example
 * isCost(1.5) // false
 */
export function isCost(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/**
 * The cost, where it can be one.
 * @throws TypeError unless `cost` is a whole number from 0 to 2^53−1: alike in every store
 * @example
 * checkedCost(3) // 3
 * checkedCost(-1) // throws TypeError
 */
export function checkedCost(cost: unknown): number {
  if (isCost(cost)) return cost
  throw new TypeError(
    `cost must be a whole number from 0 to 2^53−1, not ${typeof cost === 'number' ? cost : typeof cost}`,
  )
}
