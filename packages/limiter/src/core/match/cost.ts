import { isCost } from '../decide/cost.ts'
import { wholeNumber } from '../decide/integers.ts'
import { ConfigError } from '../errors.ts'
import type { Facts } from '../identify/facts.ts'

/**
 * What a request costs under one rule; text instead of a number says why that is not known.
 * @param given the caller's own cost, for rules that state none
 */
export type Cost = (facts: Facts, given: number | undefined) => number | string

/**
 * A rule's cost: a whole number from 0, or where to read one (`header:NAME`, `attribute:NAME`). 1 is the default, and
 * gives way to the caller's cost; so does a header or attribute that the request lacks. One that holds anything
 * but a whole number is the caller's mistake, and never free.
 * @throws ConfigError for what is neither
 * @example
 * costOf(5) // every request costs 5
 * costOf('header:x-units') // what the header says
 */
export function costOf(cost: number | string): Cost {
  if (typeof cost === 'number') {
    wholeNumber('cost', cost, 0)
    return cost === 1 ? (_facts, given) => given ?? 1 : () => cost
  }
  const [, from, name = ''] = /^(header|attribute):(.+)$/s.exec(cost) ?? []
  if (from === undefined) {
    throw new ConfigError(
      `cost ${JSON.stringify(cost.slice(0, 80))} is not a whole number, header:NAME or attribute:NAME`,
    )
  }
  const lower = name.toLowerCase()
  const read =
    from === 'header' ? (facts: Facts) => facts.header(lower) : (facts: Facts) => facts.attribute(name)
  return (facts, given) => {
    const text = read(facts)
    if (text === undefined) return given ?? 1
    const value = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN
    return isCost(value) ? value : `${cost} does not hold a whole number from 0 to 2^53−1`
  }
}
