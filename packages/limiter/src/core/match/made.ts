/** The value of a key, made where there is none yet. */
export function made<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}
