import { nearest } from '@sluice/limiter/errors'
import { OperationError } from '../operations/operation-error.ts'
import {
  type CurrentLimit,
  type DescriptorStatusMessage,
  type RateLimitDescriptor,
  type RateLimitRequest,
  type RateLimitResponse,
  UNITS,
} from './messages.ts'
import { jsonOfStruct } from './struct.ts'

type Reader<T> = (value: unknown, path: string) => T
type JsonFields = Readonly<Record<string, unknown>>

/**
 * A `RateLimitRequest` as JSON writes messages of protocol buffers: names as in `proto/`, or in camel case.
 * @throws OperationError with the path of a mistake
 */
export function requestFromJson(value: unknown): RateLimitRequest {
  return fields(
    { domain: text, descriptors: listOf(readDescriptor), hits_addend: whole(0xffff_ffff) },
    value,
    'the request',
  ) as RateLimitRequest
}

const readDescriptor: Reader<RateLimitDescriptor> = (value, path) =>
  fields(
    {
      entries: listOf((entry, at) => fields({ key: text, value: text }, entry, at)),
      limit: (limit, at) => fields({ requests_per_unit: whole(0xffff_ffff), unit }, limit, at),
      hits_addend: (addend, at) => ({ value: whole(2 ** 64)(addend, at) }),
      is_negative_hits: flag,
    },
    value,
    path,
  )

/** The fields that are there, by their names in `proto/`. Null is what is not there. */
function fields(
  readers: Readonly<Record<string, Reader<unknown>>>,
  value: unknown,
  path: string,
): JsonFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw mistake(path, 'must be an object')
  const read: Record<string, unknown> = {}
  for (const [written, own] of Object.entries(value)) {
    const name = written.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (!Object.hasOwn(readers, name)) {
      const meant = nearest(name, Object.keys(readers))
      throw mistake(
        path,
        `has no field ${JSON.stringify(written.slice(0, 100))}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
      )
    }
    if (Object.hasOwn(read, name)) throw mistake(path, `has the field ${name} twice`)
    if (own !== null) read[name] = readers[name]!(own, path === 'the request' ? name : `${path}.${name}`)
  }
  return read
}

function listOf<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw mistake(path, 'must be a list')
    return value.map((each, i) => item(each, `${path}[${i}]`))
  }
}

const text: Reader<string> = (value, path) => {
  if (typeof value !== 'string') throw mistake(path, 'must be text')
  return value
}

const flag: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw mistake(path, 'must be true or false')
  return value
}

/** Numbers may be written as text. */
function whole(most: number): Reader<number> {
  return (value, path) => {
    const number = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > most)
      throw mistake(path, `must be a whole number from 0 to ${most}`)
    return number
  }
}

const unit: Reader<number> = (value, path) => {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  const number = typeof value === 'string' ? UNITS.slice(0, -1).indexOf(value.toLowerCase()) : -1
  if (number < 0) throw mistake(path, `must be one of ${UNITS.slice(1, -1).join(', ').toUpperCase()}`)
  return number
}

function mistake(path: string, what: string): OperationError {
  return new OperationError('invalid', `${path} ${what}`)
}

const CODES = ['UNKNOWN', 'OK', 'OVER_LIMIT']

/** The answer in camel case, without zeros, as envoyproxy/ratelimit writes it. */
export function responseToJson(response: RateLimitResponse): JsonFields {
  const { overall_code, statuses, response_headers_to_add, request_headers_to_add, dynamic_metadata } =
    response
  return {
    overallCode: CODES[overall_code],
    statuses: statuses.map(statusToJson),
    ...(response_headers_to_add.length > 0 && { responseHeadersToAdd: response_headers_to_add }),
    ...(request_headers_to_add.length > 0 && { requestHeadersToAdd: request_headers_to_add }),
    ...(dynamic_metadata && { dynamicMetadata: jsonOfStruct(dynamic_metadata) }),
  }
}

function statusToJson({
  code,
  current_limit,
  limit_remaining,
  duration_until_reset,
}: DescriptorStatusMessage): JsonFields {
  return {
    code: CODES[code],
    ...(current_limit && { currentLimit: limitToJson(current_limit) }),
    ...(limit_remaining > 0 && { limitRemaining: limit_remaining }),
    ...(duration_until_reset && { durationUntilReset: `${duration_until_reset.seconds}s` }),
  }
}

function limitToJson({ requests_per_unit, unit: number, name, unit_multiplier }: CurrentLimit): JsonFields {
  return {
    ...(name !== undefined && { name }),
    ...(requests_per_unit > 0 && { requestsPerUnit: requests_per_unit }),
    ...(number > 0 && { unit: UNITS[number]!.toUpperCase() }),
    ...(unit_multiplier && { unitMultiplier: unit_multiplier.value }),
  }
}
