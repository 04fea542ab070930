import type { When } from '@sluice/limiter/rules'
import { FieldError } from '../mistake.ts'
import type { DescriptorText } from './descriptors.ts'
import { parseKeyPart } from './key-part.ts'
import { type LimitText, RULE_NAME } from './limits.ts'
import { parseQuota } from './quota.ts'
import { parseHeaderName, parseHost, parseMethod, parsePath, parseRange } from './when.ts'

type Written = Readonly<Record<string, unknown>>
type Parse = (text: string) => string

/** What has other fields than are read here, or a mistake in them. */
const UNUSUAL: unique symbol = Symbol('unusual')

/**
 * What the schema of limits reads of a limit that has these fields alone, as most have: a quarter of its time.
 * @returns `undefined` for all others, right or wrong: these the schema reads
 */
export function plainLimit(value: unknown): LimitText | undefined {
  return unlessUnusual(() => {
    const { name, when, key, limit, ...others } = fieldsOf(value)
    if (hasAny(others) || typeof name !== 'string' || !RULE_NAME.test(name)) throw UNUSUAL
    const parts = textsOf(key, parseKeyPart)
    if (new Set(parts).size < parts.length) throw UNUSUAL
    return {
      name,
      ...(when !== undefined && { when: whenOf(when) }),
      key: parts,
      limit: parseQuota(textOf(limit)),
    }
  })
}

/** The same of a descriptor with nothing but a key, a value, and a number of requests for a unit. */
export function plainDescriptor(value: unknown): DescriptorText | undefined {
  return unlessUnusual(() => {
    const { key, value: own, rate_limit, ...others } = fieldsOf(value)
    if (hasAny(others) || (own !== undefined && typeof own !== 'string')) throw UNUSUAL
    return {
      key: someText(key, Number.POSITIVE_INFINITY),
      ...(own !== undefined && { value: own }),
      ...(rate_limit !== undefined && { rate_limit: rateLimitOf(rate_limit) }),
    }
  })
}

function rateLimitOf(value: unknown): NonNullable<DescriptorText['rate_limit']> {
  const { unit, requests_per_unit: requests, ...others } = fieldsOf(value)
  if (hasAny(others) || !Number.isSafeInteger(requests) || (requests as number) < 0) throw UNUSUAL
  return { unit: someText(unit, Number.POSITIVE_INFINITY), requests_per_unit: requests as number }
}

function whenOf(value: unknown): When {
  const { method, path, host, header, ip, ...others } = fieldsOf(value)
  if (hasAny(others)) throw UNUSUAL
  const when: When = {
    ...(method !== undefined && { method: oneOrMany(method, parseMethod) }),
    ...(path !== undefined && { path: oneOrMany(path, parsePath) }),
    ...(host !== undefined && { host: oneOrMany(host, parseHost) }),
    ...(header !== undefined && { header: headersOf(header) }),
    ...(ip !== undefined && { ip: oneOrMany(ip, parseRange) }),
  }
  if (!hasAny(when)) throw UNUSUAL
  return when
}

function headersOf(value: unknown): NonNullable<When['header']> {
  const headers = new Map<string, readonly string[]>()
  for (const [written, values] of Object.entries(fieldsOf(value))) {
    const name = parseHeaderName(written)
    if (headers.has(name)) throw UNUSUAL
    headers.set(
      name,
      oneOrMany(values, (text) => someText(text, 256)),
    )
  }
  if (headers.size === 0) throw UNUSUAL
  return Object.fromEntries(headers)
}

function unlessUnusual<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error === UNUSUAL || error instanceof FieldError) return undefined
    throw error
  }
}

function fieldsOf(value: unknown): Written {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw UNUSUAL
  return value as Written
}

function hasAny(fields: object): boolean {
  for (const _ in fields) return true
  return false
}

/** @param parse throws a FieldError for what is none */
function oneOrMany(value: unknown, parse: Parse): readonly string[] {
  if (typeof value === 'string') return [parse(value)]
  const values = textsOf(value, parse)
  if (values.length === 0) throw UNUSUAL
  return values
}

function textsOf(value: unknown, parse: Parse): readonly string[] {
  if (!Array.isArray(value)) throw UNUSUAL
  return value.map((item) => parse(textOf(item)))
}

function someText(value: unknown, longest: number): string {
  const text = textOf(value)
  if (text === '' || text.length > longest) throw UNUSUAL
  return text
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw UNUSUAL
  return value
}
