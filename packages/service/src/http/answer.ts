import type { PolicyFigures } from '@sluice/limiter'
import type { Reply } from '@sluice/limiter/pipeline'
import type { Schema } from '../schema.ts'

/** One policy's figures; see Figures. Without a limit, `limit` and `remaining` are null. */
interface FiguresBody {
  readonly policy: string
  readonly allowed: boolean
  readonly limit: number | null
  readonly remaining: number | null
  readonly retryAfterMs: number | null
  readonly moreAfterMs: number | null
  readonly resetAfterMs: number | null
  readonly delayMs: number
}

/** A decision as callers receive it. */
export interface AnswerBody extends FiguresBody {
  readonly policies: readonly (FiguresBody &
    Pick<PolicyFigures, 'windowSeconds' | 'shadow' | 'soft' | 'blocked'>)[]
  readonly degraded: boolean
  readonly priority?: 'low'
  /** What the caller's own client should be sent. */
  readonly headers: Readonly<Record<string, string>>
}

const NUMBER: Schema = { type: 'number' }
const MAYBE: Schema = { type: 'number', nullable: true }
const TEXT: Schema = { type: 'string' }
const FLAG: Schema = { type: 'boolean' }

const FIGURES: Readonly<Record<keyof FiguresBody, Schema>> = {
  policy: TEXT,
  allowed: FLAG,
  limit: MAYBE,
  remaining: MAYBE,
  retryAfterMs: MAYBE,
  moreAfterMs: MAYBE,
  resetAfterMs: MAYBE,
  delayMs: NUMBER,
}

const POLICY: Schema = {
  type: 'object',
  properties: { ...FIGURES, windowSeconds: NUMBER, shadow: FLAG, soft: FLAG, blocked: FLAG },
}

/** For the serialiser, which writes what is listed here. */
export const ANSWER_FIELDS: Readonly<Record<keyof AnswerBody, Schema>> = {
  ...FIGURES,
  policies: { type: 'array', items: POLICY },
  degraded: FLAG,
  priority: TEXT,
  headers: { type: 'object', additionalProperties: TEXT },
}

export function answerOf({ decision, response }: Reply): AnswerBody {
  return {
    ...decision,
    limit: finite(decision.limit),
    remaining: finite(decision.remaining),
    headers: headersOf(response),
  }
}

function finite(value: number): number | null {
  return value === Number.POSITIVE_INFINITY ? null : value
}

/** All but the type of a body that the caller will write itself. */
function headersOf({ headers }: Reply['response']): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => name !== 'Content-Type'))
}
