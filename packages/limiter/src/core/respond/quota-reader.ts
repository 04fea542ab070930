import { type HeaderLookup, MAX_READ_POLICIES, type ReadPolicy, type ReadReport } from './dialect.ts'
import { textAt } from './header-text.ts'
import { millisecondsOf } from './seconds.ts'
import { type Item, positiveOf, readList, wholeOf } from './structured-field-reader.ts'

/**
 * What the two fields of drafts 08 to 11 say, and of the draft after them, which renames `r` to `a` and `t` to `w`.
 * A policy is known by its name and its partition key, compared by bytes. Each field may stand without the other.
 * @param names of the field with the quotas, and of that with what is left of them
 */
export function readQuotas(
  headers: HeaderLookup,
  names: readonly [quotas: string, limits: string],
): ReadReport | undefined {
  const policies: ReadPolicy[] = []
  const unmatched = new Map<string, number[]>()
  for (const item of itemsAt(headers, names[0])) {
    const identity = identityOf(item)
    unmatched.set(identity, [...(unmatched.get(identity) ?? []), policies.length])
    policies.push(quotaFrom(item))
  }
  for (const item of itemsAt(headers, names[1])) {
    const index = unmatched.get(identityOf(item))?.shift() ?? policies.length
    policies[index] = withLimit(item, policies[index])
  }
  const known = policies.filter(isKnown).slice(0, MAX_READ_POLICIES)
  return known.length === 0 ? undefined : { policies: known }
}

/** The items that name a policy: as a String, or as a Token, as the draft's own examples do. */
function itemsAt(headers: HeaderLookup, name: string): readonly Item[] {
  const items = readList(textAt(headers, name) ?? '') ?? []
  return items.slice(0, MAX_READ_POLICIES).filter(({ value }) => typeof value === 'string')
}

function identityOf(item: Item): string {
  return `${partitionKeyOf(item)?.join() ?? 'none'} ${item.value}`
}

function quotaFrom(item: Item): ReadPolicy {
  return {
    policy: String(item.value),
    partitionKey: partitionKeyOf(item),
    limit: wholeOf(item.parameters.get('q')),
    windowSeconds: positiveOf(item.parameters.get('w')),
    unit: unitOf(item),
  }
}

/** Each member is named: objects that are spread take most of the time that reading takes. */
function withLimit(item: Item, quota: ReadPolicy | undefined): ReadPolicy {
  const { parameters } = item
  const seconds = wholeOf(parameters.get('t') ?? parameters.get('w'))
  return {
    policy: String(item.value),
    partitionKey: partitionKeyOf(item),
    limit: quota?.limit,
    windowSeconds: quota?.windowSeconds,
    unit: quota?.unit,
    remaining: wholeOf(parameters.get('r') ?? parameters.get('a')),
    moreAfterMs: seconds === undefined ? undefined : millisecondsOf(seconds),
  }
}

function partitionKeyOf({ parameters }: Item): Uint8Array | undefined {
  const key = parameters.get('pk')
  return key instanceof Uint8Array ? key : undefined
}

/** The draft names the unit `requests`, and its table of names has `request`: both are in use. */
function unitOf({ parameters }: Item): string | undefined {
  const unit = parameters.get('qu') ?? 'requests'
  if (unit === 'request') return 'requests'
  return typeof unit === 'string' ? unit : undefined
}

function isKnown({ limit, remaining, moreAfterMs }: ReadPolicy): boolean {
  return limit !== undefined || remaining !== undefined || moreAfterMs !== undefined
}
