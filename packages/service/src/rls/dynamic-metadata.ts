import type { AskedDescriptor } from '../operations/asked-steps.ts'
import type { DescriptorQuestion, DescriptorResult } from '../operations/descriptors.ts'
import { CODE, type DescriptorStatusMessage, type StructMessage } from './messages.ts'
import { structOf } from './struct.ts'

type MetadataFields = Readonly<Record<string, unknown>>

/** What later filters of the proxy may read: the request, and the metadata of limits that passed. */
export function metadataOf(
  { domain, descriptors, cost }: Omit<DescriptorQuestion, 'withinMs'>,
  results: readonly DescriptorResult[],
  statuses: readonly DescriptorStatusMessage[],
): StructMessage {
  const passed = results.filter((_, i) => statuses[i]!.code === CODE.OK)
  const metadata = passed
    .map(({ limit }) => limit?.metadata)
    .filter(isFields)
    .reduce(merged, {})
  return structOf({
    domain,
    descriptors: descriptors.map(descriptorFields),
    ...(cost > 1 && { hitsAddend: cost }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  })
}

function descriptorFields({ entries, limit, cost }: AskedDescriptor): MetadataFields {
  return {
    entries: entries.map(({ key, value }) => `${key}=${value}`),
    ...(limit && { limit: `requests_per_unit:${limit.requestsPerUnit} unit:${limit.unit.toUpperCase()}` }),
    ...(cost !== undefined && { hitsAddend: cost }),
  }
}

/** What is there first stays; objects in objects are merged. */
function merged(first: MetadataFields, second: MetadataFields): MetadataFields {
  const all = new Map(Object.entries(first))
  for (const [name, value] of Object.entries(second)) {
    const before = all.get(name)
    if (before === undefined) all.set(name, value)
    else if (isFields(before) && isFields(value)) all.set(name, merged(before, value))
  }
  return Object.fromEntries(all)
}

function isFields(value: unknown): value is MetadataFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
