import type { HeaderLookup } from '@sluice/limiter/respond'

/** The headers of an answer: a `Headers`, whatever has its `get`, or an object with names in lower case as Node's. */
export type HeaderSource =
  | { get(name: string): unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** A lookup in headers of either kind; values that are no text are absent. */
export function lookupIn(headers: HeaderSource): HeaderLookup {
  const valueIn =
    typeof headers.get === 'function'
      ? (name: string): unknown => (headers as { get(name: string): unknown }).get(name)
      : (name: string): unknown => (headers as Record<string, unknown>)[name]
  return (name) => {
    const value = valueIn(name.toLowerCase())
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  }
}
