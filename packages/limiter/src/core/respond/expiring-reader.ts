import { type HeaderLookup, MAX_READ_POLICIES, type ReadPolicy, type ReadReport } from './dialect.ts'
import { countAt, durationAt, textAt, untilAt } from './header-text.ts'
import { positiveOf, readList, wholeOf } from './structured-field-reader.ts'

/**
 * What a dialect without names says: the figures of one policy, and the quotas of all. The window is that of the
 * quota with the same limit; where several have it, nothing says which is meant. Undefined when no figure is known.
 * @param quotas as {@link quotasAt} gives them; none in dialects that do not list them
 * @example
 * const report = readExpiring({ limit: 10, remaining: 3, resetAfterMs: 30_000 })
 */
export function readExpiring(
  expiring: ReadPolicy,
  quotas: readonly ReadPolicy[] = [],
): ReadReport | undefined {
  const { limit, remaining, resetAfterMs } = expiring
  const known = limit !== undefined || remaining !== undefined || resetAfterMs !== undefined
  if (!known && quotas.length === 0) return undefined
  const own = limit === undefined ? [] : quotas.filter((quota) => quota.limit === limit)
  const others = quotas.filter((quota) => !own.includes(quota))
  const first = own.length === 1 ? { ...expiring, windowSeconds: own[0]!.windowSeconds } : expiring
  return { policies: (known ? [first, ...others] : others).slice(0, MAX_READ_POLICIES) }
}

/**
 * The figures in the fields `Limit`, `Remaining` and `Reset`, each with the prefix before it.
 * @param nowMs where the reset is in seconds since the epoch: now, in milliseconds since the epoch. Without it the reset
 *   is in seconds from now.
 */
export function figuresAt(headers: HeaderLookup, prefix: string, nowMs?: number): ReadPolicy {
  const reset = `${prefix}Reset`
  return {
    limit: countAt(headers, `${prefix}Limit`),
    remaining: countAt(headers, `${prefix}Remaining`),
    resetAfterMs: nowMs === undefined ? durationAt(headers, reset) : untilAt(headers, reset, nowMs),
  }
}

/**
 * Quotas with their windows, such as `100;w=60, 5000;w=86400`. Members without a window are none.
 * @example
 * const quotas = quotasAt(headers, 'RateLimit-Policy') // [{ limit: 100, windowSeconds: 60 }]
 */
export function quotasAt(headers: HeaderLookup, name: string): ReadPolicy[] {
  const quotas: ReadPolicy[] = []
  const items = readList(textAt(headers, name) ?? '') ?? []
  for (const { value, parameters } of items.slice(0, MAX_READ_POLICIES)) {
    const limit = wholeOf(value)
    const windowSeconds = positiveOf(parameters.get('w'))
    if (limit !== undefined && windowSeconds !== undefined) quotas.push({ limit, windowSeconds })
  }
  return quotas
}
