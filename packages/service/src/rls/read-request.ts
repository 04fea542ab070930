import type { AskedDescriptor } from '../operations/asked-steps.ts'
import type { DescriptorQuestion } from '../operations/descriptors.ts'
import { OperationError } from '../operations/operation-error.ts'
import { type RateLimitDescriptor, type RateLimitRequest, UNITS } from './messages.ts'

/** The sizes that a request may have. */
export interface RequestBounds {
  readonly maxDescriptors: number
  readonly maxEntries: number
  /** Characters of a domain, key or value. */
  readonly maxTextLength: number
}

/**
 * More than Envoy sends with its own bounds: its headers have 60 KiB at most. A request that is refused here passes
 * Envoy, so no client may be able to make one.
 */
const REQUEST_BOUNDS: RequestBounds = { maxDescriptors: 128, maxEntries: 128, maxTextLength: 65_536 }

/**
 * What a request of Envoy's asks.
 * @throws OperationError for what cannot be decided, in words for the caller
 */
export function readRequest(
  { domain = '', descriptors = [], hits_addend = 0 }: RateLimitRequest,
  bounds: RequestBounds = REQUEST_BOUNDS,
): Omit<DescriptorQuestion, 'withinMs'> {
  if (domain === '') throw invalid('rate limit domain must not be empty')
  if (descriptors.length === 0) throw invalid('rate limit descriptor list must not be empty')
  if (domain.length > bounds.maxTextLength) throw tooLong(domain, 'domain', bounds.maxTextLength)
  if (descriptors.length > bounds.maxDescriptors)
    throw tooMany(descriptors, 'descriptors', bounds.maxDescriptors)
  return {
    domain,
    descriptors: descriptors.map((descriptor, i) => descriptorOf(descriptor, i, bounds)),
    cost: Math.max(1, hits_addend),
  }
}

function descriptorOf(
  { entries = [], limit, hits_addend, is_negative_hits = false }: RateLimitDescriptor,
  place: number,
  { maxEntries, maxTextLength }: RequestBounds,
): AskedDescriptor {
  if (entries.length > maxEntries) throw tooMany(entries, `descriptors[${place}].entries`, maxEntries)
  return {
    entries: entries.map(({ key = '', value = '' }, i) => {
      if (key.length > maxTextLength)
        throw tooLong(key, `descriptors[${place}].entries[${i}].key`, maxTextLength)
      if (value.length > maxTextLength)
        throw tooLong(value, `descriptors[${place}].entries[${i}].value`, maxTextLength)
      return { key, value }
    }),
    ...(hits_addend !== undefined && { cost: costOf(hits_addend.value ?? 0) }),
    ...(limit !== undefined && {
      limit: {
        requestsPerUnit: limit.requests_per_unit ?? 0,
        unit: unitOf(limit.unit ?? 0, `descriptors[${place}].limit.unit`),
      },
    }),
    ...(is_negative_hits && { refund: true }),
  }
}

/** No limit admits the largest cost, so that what is larger still need not be an error, which would pass Envoy. */
function costOf(addend: number): number {
  return Math.min(addend, Number.MAX_SAFE_INTEGER)
}

function unitOf(unit: number, path: string): string {
  const known = UNITS.slice(1, -1)
  if (unit === 0) throw invalid(`${path} is not set; it must be one of ${known.join(', ').toUpperCase()}`)
  const name = known[unit - 1]
  if (name === undefined) throw invalid(`${path} ${unit} is no unit of limits that requests bring`)
  return name
}

function tooMany(list: readonly unknown[], path: string, most: number): OperationError {
  return invalid(`${path} has ${list.length} elements; ${most} are the most`)
}

function tooLong(text: string, path: string, most: number): OperationError {
  return invalid(`${path} has ${text.length} characters; ${most} are the most`)
}

function invalid(message: string): OperationError {
  return new OperationError('invalid', message)
}
