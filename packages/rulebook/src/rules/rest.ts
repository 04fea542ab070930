import type { z } from 'zod'

type Json = Record<PropertyKey, unknown>

/** What is left of a rule without the fields that hold mistakes, and the rule's own fields that were cut or changed. */
export interface RestOfRule {
  readonly value: unknown
  readonly cut: ReadonlySet<PropertyKey>
}

/**
 * The rest of a rule, with what is needed put in where it is missing.
 * @param needed fields that every such rule, and every descriptor in it, must have
 */
export function restOf(value: unknown, issues: readonly z.core.$ZodIssue[], needed: object): RestOfRule {
  const cut = new Set<PropertyKey>()
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { value: { ...needed }, cut }
  const rest = structuredClone(value) as Json
  for (const issue of issues) {
    const paths =
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
    for (const path of paths) {
      cutAt(rest, path)
      if (path[0] !== undefined) cut.add(path[0])
    }
  }
  if (cut.has('limit')) delete rest.anchor // it may only go with the limit that was meant
  if (cut.has('count')) delete rest.limit // what it may be depends on what is counted
  if (cut.has('limit')) delete rest.count
  if (cut.has('key')) for (const callers of ['exempt', 'overrides']) delete rest[callers]
  complete(rest, needed)
  return { value: rest, cut }
}

/** Cuts a field; of a list of descriptors nothing, since the place of the others would change. */
function cutAt(rest: Json, path: readonly PropertyKey[]): void {
  let node = rest
  for (const [i, step] of path.entries()) {
    const next = node[step]
    const isLast = i === path.length - 1
    if (step === 'descriptors' && Array.isArray(next) && typeof path[i + 1] === 'number') {
      const index = path[i + 1] as number
      const child = next[index]
      if (i + 2 >= path.length || typeof child !== 'object' || child === null) next[index] = {}
      else cutAt(child as Json, path.slice(i + 2))
      return
    }
    if (isLast || Array.isArray(next) || typeof next !== 'object' || next === null) {
      delete node[step]
      return
    }
    node = next as Json
  }
}

function complete(rest: Json, needed: object): void {
  for (const [field, value] of Object.entries(needed)) rest[field] ??= value
  if (Array.isArray(rest.descriptors)) for (const child of rest.descriptors) complete(child as Json, needed)
}
