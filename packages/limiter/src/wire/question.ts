import type { DescriptorQuery } from '../core/match/descriptors.ts'
import type { Request } from '../core/request.ts'
import type { Question } from '../pipeline.ts'
import { WIRE_BOUNDS, type WireBounds } from './bounds.ts'
import { broken, type Mistake } from './mistake.ts'
import { type Checks, fields, list, map, read, where } from './read.ts'
import { ANYTHING, COST, DOMAIN, NUMBER_OR_TEXT, TEXT } from './values.ts'

/** What is asked about: exactly one of the two. */
export interface SubjectBody {
  readonly request?: Request
  readonly descriptors?: readonly DescriptorBody[]
}

/** The body of `POST /v1/check`. */
export interface QuestionBody extends SubjectBody {
  readonly domain: string
  /** For rules that state no cost of their own: a whole number from 0 to 2^53 − 1. Default 1. */
  readonly cost?: number
}

export interface DescriptorBody extends Pick<DescriptorQuery, 'entries' | 'cost'> {
  /** A limit in place of any rule's. */
  readonly limit?: DescriptorLimitBody
}

export interface DescriptorLimitBody {
  /** A whole number from 0 to 2^53 − 1. */
  readonly requests_per_unit: number
  /** `second`, `minute`, `hour`, `day`, `week`, `month` (30 days) or `year` (365), in any case. */
  readonly unit: string
}

/** A question that may leave its domain open. */
export type LooseQuestion = Omit<Question, 'domain'> & Partial<Pick<Question, 'domain'>>

const TEXT_MAP = map(TEXT, 'maxEntries')

const REQUEST = fields<Request>(
  {},
  {
    method: TEXT,
    path: TEXT,
    host: TEXT,
    ip: TEXT,
    headers: TEXT_MAP,
    query: TEXT_MAP,
    attributes: map(NUMBER_OR_TEXT, 'maxEntries'),
  },
)

const ENTRY = fields<DescriptorBody['entries'][number]>({ key: TEXT, value: TEXT }, {})

const DESCRIPTOR = fields<DescriptorBody>(
  { entries: list(ENTRY, 'maxEntries', 1) },
  { cost: COST, limit: fields<DescriptorLimitBody>({ requests_per_unit: COST, unit: TEXT }, {}) },
)

/** The fields of {@link SubjectBody}, for every body that has them. */
export const SUBJECT: Checks<SubjectBody> = {
  request: REQUEST,
  descriptors: list(DESCRIPTOR, 'maxEntries', 1),
}

const QUESTION = where(fields<QuestionBody>({ domain: DOMAIN }, { ...SUBJECT, cost: COST }), subjectMistake)

const LOOSE_QUESTION = where(
  fields<SubjectBody & Partial<QuestionBody>>({}, { ...SUBJECT, domain: DOMAIN, cost: COST }),
  subjectMistake,
)

const BATCH = list(ANYTHING, 'maxBatch')

/** For bodies with `request` and `descriptors`: exactly one of them must be there. */
export function subjectMistake({ request, descriptors }: SubjectBody): Mistake | undefined {
  return (request === undefined) === (descriptors === undefined)
    ? broken('the body must have either request or descriptors')
    : undefined
}

/**
 * Reads the body of `POST /v1/check`, or one item of a batch. Names of headers come out in lower case, as rules are
 * matched; two spellings of one header are joined with `, `.
 * @param value what `JSON.parse` gave
 * @param whole what messages call the value
 * @throws WireError with the path of the first mistake
 * @example
 * readQuestion(JSON.parse('{ "domain": "shop", "request": { "path": "/login" } }'))
 */
export function readQuestion(value: unknown, bounds: WireBounds = WIRE_BOUNDS, whole = 'the body'): Question {
  return questionOf(read(QUESTION, value, bounds, whole))
}

/**
 * Reads the same body where `domain` may be left out.
 * @throws WireError with the path of the first mistake
 * @example
 * readLooseQuestion({ request: { path: '/login' } }).domain // undefined
 */
export function readLooseQuestion(value: unknown, bounds: WireBounds = WIRE_BOUNDS): LooseQuestion {
  return questionOf(read(LOOSE_QUESTION, value, bounds, 'the body'))
}

/**
 * Reads the body of `POST /v1/check/batch` as far as its length. Each item is left for {@link readQuestion}, so that
 * a mistake in one does not fail the others.
 * @returns the items as they were sent, in order
 * @throws WireError for what is no list, or longer than `maxBatch`
 * @example
 * readBatch(body).map((item) => readQuestion(item, bounds, 'the request'))
 */
export function readBatch(value: unknown, bounds: WireBounds = WIRE_BOUNDS): readonly unknown[] {
  return read(BATCH, value, bounds, 'the body')
}

/** What was asked, of a body that has been checked. */
export function questionOf<B extends SubjectBody & { readonly domain?: string; readonly cost?: number }>(
  body: B,
): Omit<Question, 'domain'> & Pick<B, 'domain'> {
  const { domain, request, descriptors, cost } = body
  const asked: { -readonly [K in keyof Question]?: Question[K] } = {}
  if (domain !== undefined) asked.domain = domain
  if (request !== undefined) asked.request = withLowerCaseHeaders(request)
  if (descriptors !== undefined) asked.descriptors = descriptors.map(queryOf)
  if (cost !== undefined) asked.cost = cost
  return asked as Omit<Question, 'domain'> & Pick<B, 'domain'>
}

function queryOf({ entries, cost, limit }: DescriptorBody): DescriptorQuery {
  const query = cost === undefined ? { entries } : { entries, cost }
  if (limit === undefined) return query
  return { ...query, limit: { requestsPerUnit: limit.requests_per_unit, unit: limit.unit } }
}

/** Header names have no case, and rules are matched in lower case: a limit on `X-Model` must find `x-model` too. */
function withLowerCaseHeaders(request: Request): Request {
  const { headers } = request
  if (headers === undefined) return request
  const names = Object.keys(headers)
  if (names.every(isLowerCase)) return request
  const merged = new Map<string, string>()
  for (const name of names) {
    const lower = name.toLowerCase()
    const before = merged.get(lower)
    merged.set(lower, before === undefined ? headers[name]! : `${before}, ${headers[name]}`)
  }
  return { ...request, headers: Object.fromEntries(merged) }
}

function isLowerCase(name: string): boolean {
  return name === name.toLowerCase()
}
