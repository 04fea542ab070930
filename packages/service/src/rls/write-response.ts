import type { DescriptorQuestion, DescriptorReply, DescriptorResult } from '../operations/descriptors.ts'
import { currentLimit, secondsUntilReset } from './current-limit.ts'
import { metadataOf } from './dynamic-metadata.ts'
import {
  CODE,
  type Code,
  type DescriptorStatusMessage,
  type HeaderValue,
  type RateLimitResponse,
} from './messages.ts'

const MOST_UINT32 = 0xffff_ffff

/** How answers differ from those of a service without settings. */
export interface ResponseOptions {
  /** Names of three further headers, as envoyproxy/ratelimit has them. Default: none. */
  readonly limitHeaders?: LimitHeaderNames | undefined
  /** Repeats the request, and the metadata of limits that passed, for later filters of the proxy. Default false. */
  readonly dynamicMetadata?: boolean | undefined
  /** Limits refuse nothing, whatever their statuses say. Default false. */
  readonly shadow?: boolean | undefined
}

export interface LimitHeaderNames {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

/** What is answered of a decision. */
export function responseOf(
  question: Omit<DescriptorQuestion, 'withinMs'>,
  reply: DescriptorReply,
  options: ResponseOptions,
): RateLimitResponse {
  const { decision, response, results, at } = reply
  const statuses = results.map((result) => statusOf(result, at, options))
  const headers: HeaderValue[] = []
  for (const [key, value] of response.headers) if (key !== 'Content-Type') headers.push({ key, value })
  if (options.limitHeaders) headers.push(...limitHeaders(reply, statuses, options.limitHeaders))
  const answer: RateLimitResponse = {
    overall_code: decision.allowed ? CODE.OK : CODE.OVER_LIMIT,
    statuses,
    response_headers_to_add: headers,
    request_headers_to_add: (response.upstreamHeaders ?? []).map(([key, value]) => ({ key, value })),
  }
  if (!options.dynamicMetadata) return answer
  return { ...answer, dynamic_metadata: metadataOf(question, results, statuses) }
}

function statusOf(
  { limit, step, figures }: DescriptorResult,
  at: number,
  { shadow }: ResponseOptions,
): DescriptorStatusMessage {
  if (limit?.unlimited) return { code: CODE.OK, limit_remaining: MOST_UINT32 }
  if (limit === undefined || step === undefined || figures === undefined)
    return { code: CODE.OK, limit_remaining: 0 }
  const code = codeOf(step.rule.role, figures.allowed, shadow === true)
  const { remaining } = figures
  // What only the store could say, no header may say.
  if (remaining === null) return { code, limit_remaining: 0 }
  const seconds = secondsUntilReset(step, figures, at)
  const current_limit = currentLimit(limit, step)
  const limit_remaining = figures.allowed ? Math.min(remaining, MOST_UINT32) : 0
  if (seconds === undefined) return { code, current_limit, limit_remaining }
  return { code, current_limit, limit_remaining, duration_until_reset: { seconds, nanos: 0 } }
}

/** Where all are in shadow mode, only the overall code is. */
function codeOf(role: string, allowed: boolean, shadow: boolean): Code {
  const refuses = role === 'enforce' || role === 'quota' || (role === 'shadow' && shadow)
  return allowed || !refuses ? CODE.OK : CODE.OVER_LIMIT
}

/** Those of the limit that decided. */
function limitHeaders(
  { decision, results }: DescriptorReply,
  statuses: readonly DescriptorStatusMessage[],
  names: LimitHeaderNames,
): HeaderValue[] {
  const binding = results.findIndex(
    ({ step, figures }) => step?.rule.name === decision.policy && figures !== undefined,
  )
  const own = statuses[binding]
  if (own?.current_limit === undefined) return []
  return [
    { key: names.limit, value: String(own.current_limit.requests_per_unit) },
    { key: names.remaining, value: String(own.limit_remaining) },
    { key: names.reset, value: String(own.duration_until_reset?.seconds ?? 0) },
  ]
}
