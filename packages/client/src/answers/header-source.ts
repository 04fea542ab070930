import type { HeaderLookup } from '@sluice/limiter/respond'

/** The headers of an answer: a `Headers`, whatever has its `get`, or an object of names in any case, such as Node's. */
export type HeaderSource =
  | { get(name: string): unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** A lookup in headers of either kind; values that are no text are absent. */
export function lookupIn(headers: HeaderSource): HeaderLookup {
  const source =
    typeof headers.get === 'function'
      ? (headers as { get(name: string): unknown })
      : new Map(
          Object.entries(headers).map(([name, value]): [string, unknown] => [name.toLowerCase(), value]),
        )
  return (name) => {
    const value = source.get(name.toLowerCase())
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  }
}
