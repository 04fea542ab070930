import { type HeaderLookup, quotasAt, type ReadPolicy, readExpiring } from '@sluice/limiter/respond'
import { FAMILIES, type LimitFields } from './limit-fields.ts'
import { statedMilliseconds, statedWait } from './stated-time.ts'

const NUMBER = /^\d{1,400}(?:\.\d{1,400})?$/
const USED = /^\s*(\d{1,15})\s*\/\s*(\d{1,15})\s*$/
/** Characters that are read of a header. */
const MAX_LENGTH = 16_384
const MAX_NAME = 256

/**
 * What the headers of the first family that is there state; undefined where none is.
 * @param serverMs gives the server's clock, where a header needs it
 */
export function readFields(headers: HeaderLookup, serverMs: () => number): ReadPolicy[] | undefined {
  for (const { probes, limits } of FAMILIES) {
    if (!probes.some((name) => (headers(name) ?? undefined) !== undefined)) continue
    const found = limits.flatMap((fields) => policiesOf(fields, headers, serverMs))
    if (found.length > 0) return found
  }
  return undefined
}

function policiesOf(
  fields: LimitFields,
  headers: HeaderLookup,
  serverMs: () => number,
): readonly ReadPolicy[] {
  const quotas = [fields.quotas, fields.limit].flatMap((name) =>
    name === undefined ? [] : quotasAt(headers, name),
  )
  const report = readExpiring(figuresOf(fields, headers, serverMs), quotas)
  if (report === undefined) return []
  const policy = fields.name ?? firstOf(headers, fields.namesIn ?? [])?.slice(0, MAX_NAME)
  const windowMs = fields.window && statedMilliseconds(textOf(headers, fields.window) ?? '')
  const [first, ...others] = report.policies
  return [
    { ...first, ...(policy && { policy }), ...(windowMs && { windowSeconds: windowMs / 1_000 }) },
    ...others,
  ]
}

function figuresOf(fields: LimitFields, headers: HeaderLookup, serverMs: () => number): ReadPolicy {
  const used = fields.used === undefined ? null : USED.exec(textOf(headers, fields.used) ?? '')
  if (used !== null)
    return { limit: Number(used[2]), remaining: Math.max(0, Number(used[2]) - Number(used[1])) }
  const counts = countsAt(headers, fields.remaining)
  return {
    limit: countsAt(headers, fields.limit).at(-1),
    remaining: counts.length === 0 ? undefined : Math.min(...counts),
    resetAfterMs: resetOf(fields.resets ?? [], headers, serverMs),
  }
}

function resetOf(
  names: readonly string[],
  headers: HeaderLookup,
  serverMs: () => number,
): number | undefined {
  for (const name of names) {
    const text = textOf(headers, name)
    const wait = text === undefined ? undefined : statedWait(text, serverMs())
    if (wait !== undefined) return wait
  }
  return undefined
}

/**
 * The counts in a header: several where proxies one behind the other have each added theirs. Members with parameters are
 * quotas. Part of a unit is of no use, so counts are rounded down.
 */
function countsAt(headers: HeaderLookup, name: string | undefined): number[] {
  const text = name === undefined ? undefined : textOf(headers, name)
  if (text === undefined) return []
  const members = text.split(',', 100).map((member) => member.trim())
  return members
    .filter((member) => NUMBER.test(member))
    .map((member) => Math.min(Math.floor(Number(member)), Number.MAX_SAFE_INTEGER))
}

function firstOf(headers: HeaderLookup, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(headers, name)
    if (text !== undefined) return text
  }
  return undefined
}

function textOf(headers: HeaderLookup, name: string): string | undefined {
  const text = headers(name)
  return typeof text === 'string' && text.length <= MAX_LENGTH ? text : undefined
}
