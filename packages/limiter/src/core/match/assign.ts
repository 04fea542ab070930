import { ConfigError } from '../errors.ts'
import type { Limit } from './domain.ts'

/**
 * What keeps a limit from being assigned to proxies, whatever its algorithm: one error for each.
 * @example
 * assignErrors({ assign: 'rlqs', cost: 5, key: [] }).map(({ path }) => path) // [['cost']]
 */
export function assignErrors({
  assign,
  cost,
  key,
}: Pick<Limit, 'assign' | 'cost' | 'key'>): readonly ConfigError[] {
  if (assign === undefined) return []
  const errors: ConfigError[] = []
  if (cost !== 1) {
    const why = 'a limit that is assigned counts every request as 1: proxies know of no other cost'
    errors.push(new ConfigError(why, { path: ['cost'] }))
  }
  key.forEach((part, i) => {
    if (!part.startsWith('cookie:')) return
    const why = `a limit that is assigned cannot be counted by ${part}: let the proxy send its value as attribute:NAME`
    errors.push(new ConfigError(why, { path: ['key', i] }))
  })
  return errors
}

/**
 * What keeps the limit of a descriptor from being assigned, as far as the keys on the way to it tell; `undefined` where
 * nothing does. A proxy sends its entries without an order, each key once.
 * @example
 * unassignable(['user', 'user']) // 'a limit that is assigned needs keys that differ, and user is there twice'
 */
export function unassignable(keys: readonly string[]): string | undefined {
  const pattern = keys.find((key) => key.includes('*'))
  if (pattern !== undefined) return `a limit that is assigned needs keys without *, and ${pattern} has one`
  const twice = keys.find((key, i) => keys.indexOf(key) < i)
  if (twice !== undefined)
    return `a limit that is assigned needs keys that differ, and ${twice} is there twice`
  return undefined
}
