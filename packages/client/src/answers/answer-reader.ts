import { type CallFields, checkCall } from '@sluice/limiter/options'
import {
  type Dialect,
  type HeaderLookup,
  type ReadPolicy,
  readDraft07,
  readIetf,
  readRetryAfter,
} from '@sluice/limiter/respond'
import type { AnswerLimits, StatedLimit } from './answer-limits.ts'
import { readFields } from './field-reader.ts'
import { type HeaderSource, lookupIn } from './header-source.ts'
import { serverTime } from './server-time.ts'
import { statedMilliseconds, statedWait } from './stated-time.ts'

/** What is read of an answer. A `Response` is one. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderSource
}

export interface ReadAnswerOptions {
  /** The reader's wall clock when the answer came, milliseconds since the epoch. */
  readonly now: number
  /** Readers for an API of your own; they are asked before those that are known here. */
  readonly dialects?: readonly Pick<Dialect, 'read'>[]
}

const OPTIONS: CallFields = /* @__PURE__ */ new Map([
  ['now', 'number'],
  ['dialects', 'object'],
])

/** The wait in milliseconds, by those who state it so. */
const IN_MILLISECONDS = [
  'retry-after-ms',
  'x-ms-retry-after-ms',
  'x-amz-retry-after',
  'grpc-retry-pushback-ms',
]
/** What GitHub asks of those who meet a secondary limit without any hint. */
const GITHUB_WAIT_MS = 60_000

/**
 * What an answer says about limits, in whatever dialect; undefined where it says nothing. Any text in headers is
 * accepted, and what is not understood is left out. The limits of an answer from a cache (`Age` above 0) are old, and are
 * not read.
 * @throws TypeError for options that are wrong, and for what is no answer
 * @example
 * const said = readAnswerLimits(await fetch(url), { now: Date.now() })
 */
export function readAnswerLimits(answer: Answer, options: ReadAnswerOptions): AnswerLimits | undefined {
  checkCall(options, OPTIONS, [], ['now'])
  checkAnswer(answer)
  const { status, headers } = answer
  const lookup = lookupIn(headers)
  const serverMs = (): number => serverTime(lookup, options.now)
  const policies = policiesIn(lookup, serverMs, options)
  const limits = policies.length === 0 || isOld(lookup, status) ? [] : policies.map(statedLimit)
  const asked = status >= 300 ? askedWait(lookup, serverMs, options.now) : undefined
  const refused = isRefusal(status, limits, asked, lookup)
  const retryAfterMs = asked ?? (refused ? impliedWait(limits, lookup) : undefined)
  if (limits.length === 0 && retryAfterMs === undefined && !refused) return undefined
  return { limits, refused, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** @throws TypeError for what is no answer */
export function checkAnswer(answer: Answer): void {
  const { status, headers } = (answer ?? {}) as Partial<Answer>
  if (typeof status !== 'number' || typeof headers !== 'object' || headers === null)
    throw new TypeError('an answer must have a status, and headers as an object')
}

function policiesIn(
  headers: HeaderLookup,
  serverMs: () => number,
  { now, dialects = [] }: ReadAnswerOptions,
): readonly ReadPolicy[] {
  for (const dialect of dialects) {
    const own = dialect.read(headers, now)
    if (own !== undefined) return own.policies
  }
  const field = headers('ratelimit') ?? undefined
  if (field === undefined) {
    // Drafts 04 to 06 have RateLimit-Policy too: where their other fields are there, those say more.
    const fields = readFields(headers, serverMs)
    if (fields !== undefined || (headers('ratelimit-policy') ?? undefined) === undefined) return fields ?? []
  }
  // A name in quotes begins the drafts from 08 on; a name without them is read by whichever draft it fits.
  const single = field?.startsWith('"') ? undefined : readDraft07(headers, now)
  return (single ?? readIetf(headers, now))?.policies ?? readFields(headers, serverMs) ?? []
}

function statedLimit(policy: ReadPolicy): StatedLimit {
  const { limit, remaining, windowSeconds, moreAfterMs, resetAfterMs, unit } = policy
  return {
    name: policy.policy ?? '',
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(moreAfterMs !== undefined && { moreMs: moreAfterMs }),
    ...(resetAfterMs !== undefined && { resetMs: resetAfterMs }),
    ...(windowSeconds !== undefined && { windowMs: windowSeconds * 1_000 }),
    ...(unit !== undefined && { unit }),
  }
}

function isOld(headers: HeaderLookup, status: number): boolean {
  const age = headers('age')
  return status !== 429 && typeof age === 'string' && (statedMilliseconds(age) ?? 0) > 0
}

/** What the server asks for in so many words. */
function askedWait(headers: HeaderLookup, serverMs: () => number, nowMs: number): number | undefined {
  for (const name of IN_MILLISECONDS) {
    const ms = statedMilliseconds(headers(name) ?? '')
    if (ms !== undefined) return ms
  }
  const after = headers('retry-after')
  const wait =
    typeof after === 'string' ? readRetryAfter(after, nowMs, headers('date') ?? undefined) : undefined
  if (wait !== undefined) return wait
  const other = headers('x-ratelimit-retry-after')
  return typeof other === 'string' ? statedWait(other, serverMs()) : undefined
}

/** A refusal has status 429; with GitHub and behind proxies 403 too, where it says how long or that nothing is left. */
function isRefusal(
  status: number,
  limits: readonly StatedLimit[],
  asked: number | undefined,
  headers: HeaderLookup,
): boolean {
  if (status === 429) return true
  if (status === 403) return asked !== undefined || limits.some(({ remaining }) => remaining === 0)
  return status >= 400 && headers('x-envoy-ratelimited') === 'true'
}

/**
 * Without Retry-After: the longest time of the limits that are used up. A limit that has units left is not the one that
 * refused, so its reset says nothing.
 */
function impliedWait(limits: readonly StatedLimit[], headers: HeaderLookup): number | undefined {
  const waits = limits
    .filter(({ remaining }) => remaining === undefined || remaining === 0)
    .map(({ moreMs, resetMs }) => moreMs ?? resetMs)
    .filter((wait) => wait !== undefined)
  if (waits.length > 0) return Math.max(...waits)
  const github = headers('x-github-request-id') ?? headers('x-ratelimit-resource') ?? undefined
  return github === undefined ? undefined : GITHUB_WAIT_MS
}
