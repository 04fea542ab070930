/** What a proxy calls a bucket: names and values, without an order. */
export type BucketId = Readonly<Record<string, string>>

/** Most entries of an id, and characters of its names and values together: others are passed over. */
const MOST_ENTRIES = 16
const MOST_CHARACTERS = 1_024

/**
 * One text for an id, whatever the order of its entries; `undefined` for an id that is empty or beyond the bounds.
 * @example
 * bucketName({ user: 'ada', limit: 'search' }) // '["limit","search","user","ada"]'
 */
export function bucketName(id: BucketId): string | undefined {
  const names = Object.keys(id)
  if (names.length === 0 || names.length > MOST_ENTRIES) return undefined
  let characters = 0
  for (const name of names) characters += name.length + id[name]!.length
  if (characters > MOST_CHARACTERS) return undefined
  return JSON.stringify(names.sort().flatMap((name) => [name, id[name]]))
}
