import type { Question } from '@sluice/limiter/pipeline'
import type { DescriptorQuery, Request } from '@sluice/limiter/rules'
import type { Bounds } from '../bounds.ts'
import { HttpError } from '../problem.ts'
import { fields, list, type Schema, text, WHOLE } from '../schema.ts'

/** A request as callers send it; {@link questionSchema} has checked it. */
export interface QuestionBody {
  readonly domain: string
  readonly request?: Request
  readonly descriptors?: readonly DescriptorBody[]
  readonly cost?: number
}

interface DescriptorBody extends Pick<DescriptorQuery, 'entries' | 'cost'> {
  readonly limit?: { readonly requests_per_unit: number; readonly unit: string }
}

/** Properties of a question's schema: what is asked, without the cost. */
export function subjectFields(bounds: Bounds): Record<'domain' | 'request' | 'descriptors', Schema> {
  const some = text(bounds)
  const most = bounds.maxEntries
  const map = (values: Schema): Schema => ({
    type: 'object',
    additionalProperties: values,
    maxProperties: most,
    propertyNames: some,
    description: `an object of at most ${most} fields`,
  })
  const attribute: Schema = {
    ...some,
    type: ['string', 'number'],
    description: `a number, or ${some.description}`,
  }
  const entry = fields({ key: some, value: some }, 'key', 'value')
  const limit = fields({ requests_per_unit: WHOLE, unit: some }, 'requests_per_unit', 'unit')
  return {
    domain: some,
    request: fields({
      method: some,
      path: some,
      host: some,
      ip: some,
      headers: map(some),
      query: map(some),
      attributes: map(attribute),
    }),
    descriptors: list(fields({ entries: list(entry, most, 1), cost: WHOLE, limit }, 'entries'), most, 1),
  }
}

export function questionSchema(bounds: Bounds): Schema {
  return fields({ ...subjectFields(bounds), cost: WHOLE }, 'domain')
}

/** @throws HttpError unless exactly one of `request` and `descriptors` is there */
export function questionOf({ domain, request, descriptors, cost }: QuestionBody): Question {
  if ((request === undefined) === (descriptors === undefined)) {
    throw new HttpError(400, 'the body must have either request or descriptors')
  }
  return {
    domain,
    ...(request !== undefined && { request: lowerCased(request) }),
    ...(descriptors !== undefined && { descriptors: descriptors.map(queryOf) }),
    ...(cost !== undefined && { cost }),
  }
}

function queryOf({ entries, cost, limit }: DescriptorBody): DescriptorQuery {
  return {
    entries,
    ...(cost !== undefined && { cost }),
    ...(limit !== undefined && { limit: { requestsPerUnit: limit.requests_per_unit, unit: limit.unit } }),
  }
}

/** Header names have no case, and rules are matched in lower case: a limit on `X-Model` must not slip by. */
function lowerCased(request: Request): Request {
  const { headers = {} } = request
  const names = Object.keys(headers)
  if (names.every((name) => name === name.toLowerCase())) return request
  const merged = new Map<string, string>()
  for (const name of names) {
    const lower = name.toLowerCase()
    const before = merged.get(lower)
    merged.set(lower, before === undefined ? headers[name]! : `${before}, ${headers[name]}`)
  }
  return { ...request, headers: Object.fromEntries(merged) }
}
