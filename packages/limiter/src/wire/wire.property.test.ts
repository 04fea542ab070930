import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as wire from '../wire.ts'

const bounds = { maxTextLength: 12, maxEntries: 3, maxBatch: 3 }

const KNOWN = [
  ...['domain', 'request', 'descriptors', 'cost', 'method', 'path', 'host', 'ip', 'headers', 'query'],
  ...['attributes', 'entries', 'key', 'value', 'limit', 'requests_per_unit', 'unit', 'ttl_ms', 'id', 'costs'],
  ...['policy', 'allowed', 'policies', 'status', 'detail', 'peek', '__proto__', 'constructor', 'toString'],
]

const text = fc.string({ unit: 'binary', maxLength: 12 })
const whole = fc.maxSafeNat()
const name = fc.oneof(fc.constantFrom(...KNOWN), text)

/** Any value of JSON, with the names of the wire among its own. */
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, '', 'a', 0, 1, -1, 0.5, 2 ** 53, 1e300),
    fc.jsonValue(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  ),
})).value

const optionally = <T extends object>(
  all: { [K in keyof T]: fc.Arbitrary<T[K]> },
  ...required: (keyof T)[]
) => fc.record(all, { requiredKeys: required, noNullPrototype: true })

const mapOf = (values: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString'), text), values, {
    maxKeys: 3,
    noNullPrototype: true,
  })
const request = optionally<object>({
  method: text,
  path: text,
  host: text,
  ip: text,
  headers: mapOf(text),
  query: mapOf(text),
  attributes: mapOf(fc.oneof(text, fc.maxSafeInteger())),
})
const entry = fc.record({ key: text, value: text }, { noNullPrototype: true })
const descriptor = optionally<{ entries: unknown; cost: unknown; limit: unknown }>(
  {
    entries: fc.array(entry, { minLength: 1, maxLength: 3 }),
    cost: whole,
    limit: fc.record({ requests_per_unit: whole, unit: text }),
  },
  'entries',
)
const descriptors = fc.array(descriptor, { minLength: 1, maxLength: 3 })
const domain = text.map((any) => any.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, ''))
const question = fc.oneof(
  optionally<{ domain: unknown; request: unknown; cost: unknown }>(
    { domain, request, cost: whole },
    'domain',
    'request',
  ),
  optionally<{ domain: unknown; descriptors: unknown; cost: unknown }>(
    { domain, descriptors, cost: whole },
    'domain',
    'descriptors',
  ),
)

/** What is nearly right in some place: just outside a bound. */
const outside = fc.oneof(
  fc.constantFrom(-1, 0.5, 2 ** 53, 'x'.repeat(13), { a: '', b: '', c: '', d: '' }),
  fc.array(entry, { minLength: 4, maxLength: 4 }),
  fc.array(descriptor, { minLength: 4, maxLength: 4 }),
)

/** A body in which one value, at any depth, is another. */
const almostQuestion = fc
  .tuple(question, fc.nat(), fc.nat(), fc.oneof(outside, json), name)
  .map(([body, place, field, value, stray]) => {
    const copy = JSON.parse(JSON.stringify(body))
    const objects = objectsIn(copy)
    const chosen = objects[place % objects.length]!
    const names = Array.isArray(chosen) ? Object.keys(chosen) : [...Object.keys(chosen), stray]
    const changed = names[field % names.length]!
    Object.defineProperty(chosen, changed, { value, enumerable: true, configurable: true, writable: true })
    return copy as unknown
  })

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

/** What was sent, as the service parses it. */
const body = fc.oneof(json, question, almostQuestion).map((value) => JSON.parse(JSON.stringify(value)))

const isText = (value: unknown): boolean => typeof value === 'string' && [...value].length <= 12
const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean =>
  value === undefined || is(value)
const isCost = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isAttribute = (value: unknown): boolean => Number.isSafeInteger(value) || isText(value)

function isObjectOf(value: unknown, ...names: string[]): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.keys(value).every((name) => names.includes(name))
  )
}

function isMapOf(value: unknown, is: (name: string, value: unknown) => boolean): boolean {
  const entries = Object.entries(value as object)
  return entries.length <= 3 && entries.every(([name, each]) => is(name, each))
}

function isListOf(value: unknown, is: (value: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length >= 1 && value.length <= 3 && value.every(is)
}

function isRequest(value: unknown): boolean {
  if (!isObjectOf(value, 'method', 'path', 'host', 'ip', 'headers', 'query', 'attributes')) return false
  const { method, path, host, ip, headers, query, attributes } = value
  return (
    [method, path, host, ip].every((each) => isOptional(each, isText)) &&
    // A name in lower case may be longer than it was sent, and so may two spellings of one header, joined.
    isOptional(headers, (all) => isMapOf(all, (_, each) => typeof each === 'string')) &&
    isOptional(query, (all) => isMapOf(all, (name, each) => isText(name) && isText(each))) &&
    isOptional(attributes, (all) => isMapOf(all, (name, each) => isText(name) && isAttribute(each)))
  )
}

function isDescriptor(value: unknown): boolean {
  return (
    isObjectOf(value, 'entries', 'cost', 'limit') &&
    isListOf(
      value.entries,
      (each) => isObjectOf(each, 'key', 'value') && isText(each.key) && isText(each.value),
    ) &&
    isOptional(value.cost, isCost) &&
    isOptional(
      value.limit,
      (each) =>
        isObjectOf(each, 'requestsPerUnit', 'unit') && isCost(each.requestsPerUnit) && isText(each.unit),
    )
  )
}

function isQuestion(value: unknown): boolean {
  return (
    isObjectOf(value, 'domain', 'request', 'descriptors', 'cost') &&
    isText(value.domain) &&
    isOptional(value.cost, isCost) &&
    (value.request === undefined) !== (value.descriptors === undefined) &&
    isOptional(value.request, isRequest) &&
    isOptional(value.descriptors, (each) => isListOf(each, isDescriptor))
  )
}

/** Reads, and says whether there was a mistake. @throws any error that is not the reader's own */
function read<T>(reader: () => T): T | undefined {
  try {
    return reader()
  } catch (error) {
    if (!(error instanceof wire.WireError)) throw error
    expect(error.message).toContain(error.path)
    return undefined
  }
}

describe('whatever JSON is sent', () => {
  const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
    readLooseQuestion: (value) => wire.readLooseQuestion(value, bounds),
    readBatch: (value) => wire.readBatch(value, bounds),
    readReserve: (value) => wire.readReserve(value, bounds),
    readCommit: (value) => wire.readCommit(value, bounds),
    readCancel: wire.readCancel,
    readReset: (value) => wire.readReset(value, bounds),
    readPeek: wire.readPeek,
    readNoQuery: wire.readNoQuery,
    readAnswer: wire.readAnswer,
    readBatchAnswer: wire.readBatchAnswer,
    readReserveAnswer: wire.readReserveAnswer,
    readProblem: wire.readProblem,
  }

  it.each(Object.entries(READERS))('%s takes it or throws a WireError', (_name, reader) => {
    fc.assert(
      fc.property(body, (value) => void read(() => reader(value))),
      { numRuns: 500 },
    )
  })

  it('what readQuestion takes is a question, within its bounds', () => {
    fc.assert(
      fc.property(body, (value) => {
        const asked = read(() => wire.readQuestion(value, bounds))
        if (asked !== undefined) expect(isQuestion(asked)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it('a question is read, alike by every reader of one', () => {
    fc.assert(
      fc.property(question, (sent) => {
        const asked = wire.readQuestion(sent, bounds)
        expect(isQuestion(asked)).toBe(true)
        expect(wire.readLooseQuestion(sent, bounds)).toEqual(asked)
        expect(wire.readReserve(sent, bounds)).toEqual({ question: asked, ttlMs: 60_000 })
      }),
    )
  })

  it('nothing is added to the prototype of all objects', () => {
    const before = Reflect.ownKeys(Object.prototype)
    fc.assert(fc.property(body, (value) => void read(() => wire.readQuestion(value, bounds))))
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before)
  })
})
