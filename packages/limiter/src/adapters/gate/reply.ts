import type { Decision } from '../../core/decide/decision.ts'
import { ConfigError } from '../../core/errors.ts'
import type { Header } from '../../core/respond/dialect.ts'
import { dialectsOf, exposedHeaders } from '../../core/respond/dialects.ts'
import type { Problem } from '../../core/respond/problem.ts'
import { admittedHeaders, type Reply, respondTo } from '../../core/respond/respond.ts'
import type { Native } from './arrival.ts'
import type { RateLimitInfo } from './info.ts'
import { oneOf, type Settings } from './settings.ts'
import { given, type Soon, soon } from './soon.ts'

/** A refusal, ready to be sent. */
export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
  /** What `text` was made of. */
  readonly body: unknown
}

/** Who asked, and when. */
export interface Occasion {
  readonly shown: string | undefined
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: number
}

export interface Replies<N extends Native> {
  /** @param decision none: no headers */
  headersOf(decision: Decision | undefined, occasion: Occasion): readonly Header[]
  answerTo(decision: Decision, native: N, info: RateLimitInfo | undefined, occasion: Occasion): Soon<Answer>
  /** What to add to `Access-Control-Expose-Headers`. */
  readonly exposed: string | undefined
}

/** @throws ConfigError for a dialect, status or share that means nothing */
export function repliesOf<N extends Native>(settings: Settings<N>): Replies<N> {
  const { headers: when = 'always', retryAfter = 'seconds', jitter, message, statusCode } = settings
  const dialect = dialectsOf(settings.dialect ?? 'ietf')
  oneOf('headers', when, ['always', 'denied'])
  oneOf('retryAfter', retryAfter, ['seconds', 'date'])
  const exposed = exposedHeaders(dialect).join(', ')
  if (jitter !== undefined && !(jitter >= 0 && jitter <= 1))
    throw new ConfigError(`jitter must lie in 0–1, not ${jitter}`)
  if (statusCode !== undefined && !(Number.isInteger(statusCode) && statusCode >= 400 && statusCode <= 599)) {
    throw new ConfigError(`statusCode must be 400 to 599, not ${statusCode}`)
  }
  const respond = (decision: Decision, { shown, nowMs }: Occasion): Reply => {
    const common = { dialect, when, retryAfter, nowMs }
    return respondTo(
      decision,
      jitter === undefined ? common : { ...common, jitter: { share: jitter, key: shown ?? '', seed: 0 } },
    )
  }
  return {
    exposed: settings.exposeHeaders ? exposed : undefined,
    headersOf(decision, occasion) {
      if (decision === undefined) return []
      if (decision.allowed) return admittedHeaders(decision, dialect, when, occasion)
      return respond(decision, occasion).headers.filter(([name]) => name !== 'Content-Type')
    },
    answerTo(decision, native, info, occasion) {
      const { body: problem, status } = respond(decision, occasion)
      if (status !== 429) return problemAnswer(problem!)
      const code = statusCode ?? 429
      return soon(given(typeof message === 'function' ? message(...native, info!) : message), (own) =>
        own === undefined ? problemAnswer({ ...problem!, status: code }) : answerOf(code, own),
      )
    },
  }
}

/** A refusal that has nothing to do with a quota. */
export function plainProblem(status: 400 | 403, title: string, detail: string): Answer {
  return problemAnswer({ status, type: 'about:blank', title, detail })
}

function problemAnswer(
  problem: Omit<Problem, 'violated-policies' | 'status'> & { readonly status: number },
): Answer {
  return {
    status: problem.status,
    type: 'application/problem+json',
    text: JSON.stringify(problem),
    body: problem,
  }
}

function answerOf(status: number, body: unknown): Answer {
  if (typeof body === 'string') return { status, type: 'text/plain; charset=utf-8', text: body, body }
  return { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) ?? '', body }
}
