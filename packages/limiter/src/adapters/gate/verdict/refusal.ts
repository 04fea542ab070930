import type { Decision } from '../../../core/decide/decision.ts'
import { exposedHeaders } from '../../../core/respond/chosen-dialects.ts'
import type { Header } from '../../../core/respond/dialect.ts'
import type { Problem } from '../../../core/respond/problem.ts'
import { admittedHeaders, type LimitResponse, responseTo } from '../../../core/respond/response.ts'
import { andThen, type MaybePromise, maybePromise } from '../../../maybe-promise.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { GateSettings } from '../options/settings.ts'
import type { RateLimitInfo } from './info.ts'

/** A refusal, ready to be sent. */
export interface Refusal {
  readonly status: number
  readonly type: string
  readonly text: string
  /** What `text` was made of. */
  readonly body: unknown
  /** By a limit that is used up: not for want of the store (503), and not whatever the limits say (400, 403). */
  readonly byQuota: boolean
}

/** Who asked, and when. */
export interface ReplyContext {
  readonly shown: string | undefined
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: number
}

export interface Replies<N extends FrameworkArgs> {
  /** @param decision none: no headers */
  headersOf(decision: Decision | undefined, context: ReplyContext): readonly Header[]
  refusalTo(decision: Decision, args: N, info: RateLimitInfo, context: ReplyContext): MaybePromise<Refusal>
  /** What to add to `Access-Control-Expose-Headers`. */
  readonly exposed: string | undefined
}

export function repliesOf<N extends FrameworkArgs>(settings: GateSettings<N>): Replies<N> {
  const { dialect, headers: when = 'always', retryAfter = 'seconds', jitter, message, statusCode } = settings
  const exposed = exposedHeaders(dialect).join(', ')
  const respond = (decision: Decision, { shown, nowMs }: ReplyContext): LimitResponse => {
    const common = { when, retryAfter, nowMs }
    return responseTo(
      decision,
      dialect,
      jitter === undefined ? common : { ...common, jitter: { share: jitter, key: shown ?? '', seed: 0 } },
    )
  }
  return {
    exposed: settings.exposeHeaders ? exposed : undefined,
    headersOf(decision, context) {
      if (decision === undefined) return []
      if (decision.allowed) return admittedHeaders(decision, dialect, when, context)
      return respond(decision, context).headers.filter(([name]) => name !== 'Content-Type')
    },
    refusalTo(decision, args, info, context) {
      const { body: problem, status } = respond(decision, context)
      if (status === 503) return problemRefusal(problem!, false)
      const code = statusCode ?? status
      return andThen(maybePromise(typeof message === 'function' ? message(...args, info) : message), (own) =>
        own === undefined ? problemRefusal({ ...problem!, status: code }, true) : refusalWith(code, own),
      )
    },
  }
}

/** A refusal that has nothing to do with a quota. */
export function plainProblem(status: 400 | 403, title: string, detail: string): Refusal {
  return problemRefusal({ status, type: 'about:blank', title, detail }, false)
}

function problemRefusal(
  problem: Omit<Problem, 'violated-policies' | 'status'> & { readonly status: number },
  byQuota: boolean,
): Refusal {
  return {
    status: problem.status,
    type: 'application/problem+json',
    text: JSON.stringify(problem),
    body: problem,
    byQuota,
  }
}

function refusalWith(status: number, body: unknown): Refusal {
  const byQuota = true
  if (typeof body === 'string')
    return { status, type: 'text/plain; charset=utf-8', text: body, body, byQuota }
  const text = JSON.stringify(body) ?? ''
  return { status, type: 'application/json; charset=utf-8', text, body, byQuota }
}
