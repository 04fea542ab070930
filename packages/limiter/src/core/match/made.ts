/** The value of a key, made where there is none yet. */
export function made<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  map.set(key, value)
  return value
}
