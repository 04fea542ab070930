import type { CountedKey, CountedRoute, KeyCounts } from './key-counts.ts'

/** Routes of one key. */
const MOST_ROUTES = 5

/** A route and a key as one text to count; a route has no line break. */
export function routeWithKey(route: string, key: string): string {
  return `${route}\n${key}`
}

/** Keys with their routes, of what was counted by {@link routeWithKey}. */
export function withRoutes(counts: KeyCounts, deniedOn: KeyCounts): KeyCounts {
  if (deniedOn.total === 0) return counts
  const routes = new Map<string, CountedRoute[]>(counts.keys.map(({ key }) => [key, []]))
  for (const { key: text, atLeast } of deniedOn.keys) {
    const end = text.indexOf('\n')
    if (atLeast > 0) routes.get(text.slice(end + 1))?.push({ route: text.slice(0, end), atLeast })
  }
  return { ...counts, keys: counts.keys.map((each) => keyWith(each, routes.get(each.key)!)) }
}

/** Keys with the routes that any of several lists has of them. What each says it has at least, they have at least together. */
export function mergedRoutes(counts: KeyCounts, listed: readonly CountedKey[]): KeyCounts {
  const sums = new Map<string, Map<string, number>>()
  for (const { key, routes = [] } of listed) {
    const sum = sums.get(key) ?? new Map<string, number>()
    for (const { route, atLeast } of routes) sum.set(route, (sum.get(route) ?? 0) + atLeast)
    sums.set(key, sum)
  }
  const keys = counts.keys.map((each) => {
    const sum = [...(sums.get(each.key) ?? [])]
    return keyWith(
      each,
      sum.map(([route, atLeast]) => ({ route, atLeast })),
    )
  })
  return { ...counts, keys }
}

function keyWith({ routes: _, ...key }: CountedKey, routes: readonly CountedRoute[]): CountedKey {
  if (routes.length === 0) return key
  const most = [...routes].sort((a, b) => b.atLeast - a.atLeast || (a.route < b.route ? -1 : 1))
  return { ...key, routes: most.slice(0, MOST_ROUTES) }
}
