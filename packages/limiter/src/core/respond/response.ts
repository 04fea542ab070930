import type { Decision, PolicyFigures } from '../decide/decision.ts'
import { type DialectWriter, type Header, isEnforced, type ReportOptions, reportFor } from './dialect.ts'
import type { Dialects } from './dialect-writers.ts'
import { type Jitter, jittered } from './jitter.ts'
import { type Problem, problemOf, type RefusalReason } from './problem.ts'
import { retryAfter, retrySeconds } from './retry-after.ts'

export interface RespondOptions extends ReportOptions {
  /** One dialect, or several that share no header, by name or as objects; `[]` for none. Default `ietf`. */
  readonly dialect?: Dialects
  /** Send the dialects' headers always (default), or on refusals only. */
  readonly when?: 'always' | 'denied'
  /** Default `seconds`, which needs no clock in common. */
  readonly retryAfter?: 'seconds' | 'date'
  readonly jitter?: Jitter
  /** URI reference that names this refusal in the problem. */
  readonly problemInstance?: string
}

/** What goes out. `status` 200 stands for "admitted": whatever the application answers. */
export interface LimitResponse {
  readonly status: 200 | 403 | 429 | 503
  readonly headers: Header[]
  /** To be set on the request where it is passed on, for the next hop; absent where there is nothing to say. */
  readonly upstreamHeaders?: Header[]
  /** On a refusal. */
  readonly body?: Problem
  /** On a refusal. */
  readonly reason?: RefusalReason
}

/** As respondTo, of options that were checked. @param chosen what `dialect` of the options names */
export function responseTo(
  decision: Decision,
  chosen: readonly DialectWriter[],
  options: Omit<RespondOptions, 'dialect'>,
): LimitResponse {
  if (!decision.allowed) return refusal(decision, chosen, options)
  const headers = admittedHeaders(decision, chosen, options.when, options)
  if (decision.priority === undefined) return { status: 200, headers }
  return { status: 200, headers, upstreamHeaders: [['Sluice-Priority', decision.priority]] }
}

/** The headers of an admitted request: all that most responses need. */
export function admittedHeaders(
  decision: Decision,
  chosen: readonly DialectWriter[],
  when: RespondOptions['when'],
  options: ReportOptions,
): Header[] {
  return when === 'denied' ? [] : headersFor(decision, chosen, options)
}

function headersFor(decision: Decision, chosen: readonly DialectWriter[], options: ReportOptions): Header[] {
  const report = reportFor(decision, options)
  return chosen.length === 1
    ? chosen[0]!.headers(report)
    : chosen.flatMap((dialect) => dialect.headers(report))
}

function refusal(
  decision: Decision,
  chosen: readonly DialectWriter[],
  options: Omit<RespondOptions, 'dialect'>,
): LimitResponse {
  const { jitter, nowMs } = options
  const wait = decision.retryAfterMs
  const retry = retrySeconds(wait !== null && jitter !== undefined ? jittered(wait, jitter) : wait)
  const headers = [...headersFor(decision, chosen, { ...options, retrySeconds: retry })]
  if (retry !== undefined)
    headers.push(['Retry-After', retryAfter(retry, options.retryAfter ?? 'seconds', nowMs)])
  headers.push(['Cache-Control', 'no-store'], ['Content-Type', 'application/problem+json'])
  const refusing = decision.policies.filter((own) => !own.allowed && isEnforced(own))
  const reason = reasonOf(decision, refusing)
  const body = problemOf(
    reason,
    refusing.map(({ policy }) => policy),
    retry,
    options.problemInstance,
  )
  return { status: body.status, headers, body, reason }
}

/** Of several reasons the one against which waiting helps least. */
function reasonOf(decision: Decision, refusing: readonly PolicyFigures[]): RefusalReason {
  if (decision.degraded) return 'store'
  if (refusing.some(({ missingKey }) => missingKey)) return 'missing-key'
  return refusing.some(({ blocked }) => blocked) ? 'block' : 'quota'
}
