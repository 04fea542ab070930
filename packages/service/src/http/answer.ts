import type { AnswerBody, FiguresBody, PolicyBody } from '@sluice/limiter/wire'

/** JSON Schema, as Fastify's serialiser takes it. */
export interface Schema {
  readonly [keyword: string]: unknown
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

const POLICY_FIELDS: Readonly<Record<keyof PolicyBody, Schema>> = {
  ...FIGURES,
  windowSeconds: NUMBER,
  shadow: FLAG,
  soft: FLAG,
  blocked: FLAG,
}

/** For the serialiser, which writes what is listed here. */
export const ANSWER_FIELDS: Readonly<Record<keyof AnswerBody, Schema>> = {
  ...FIGURES,
  policies: { type: 'array', items: { type: 'object', properties: POLICY_FIELDS } },
  degraded: FLAG,
  priority: TEXT,
  headers: { type: 'object', additionalProperties: TEXT },
}
