import type { AnswerBody, FiguresBody, PolicyBody } from '@sluice/limiter/wire'

/** JSON Schema, as Fastify's serialiser takes it. */
export interface Schema {
  readonly [keyword: string]: unknown
}

const NUMBER_SCHEMA: Schema = { type: 'number' }
const NULLABLE_SCHEMA: Schema = { type: 'number', nullable: true }
const TEXT_SCHEMA: Schema = { type: 'string' }
const FLAG_SCHEMA: Schema = { type: 'boolean' }
const HEADERS_SCHEMA: Schema = { type: 'object', additionalProperties: TEXT_SCHEMA }

const FIGURES_SCHEMA: Readonly<Record<keyof FiguresBody, Schema>> = {
  policy: TEXT_SCHEMA,
  allowed: FLAG_SCHEMA,
  limit: NULLABLE_SCHEMA,
  remaining: NULLABLE_SCHEMA,
  retryAfterMs: NULLABLE_SCHEMA,
  moreAfterMs: NULLABLE_SCHEMA,
  resetAfterMs: NULLABLE_SCHEMA,
  delayMs: NUMBER_SCHEMA,
}

const POLICY_SCHEMA: Readonly<Record<keyof PolicyBody, Schema>> = {
  ...FIGURES_SCHEMA,
  windowSeconds: NUMBER_SCHEMA,
  shadow: FLAG_SCHEMA,
  deprioritizes: FLAG_SCHEMA,
  soft: FLAG_SCHEMA,
  blocked: FLAG_SCHEMA,
  missingKey: FLAG_SCHEMA,
}

/** For the serialiser, which writes what is listed here. */
export const ANSWER_SCHEMA: Readonly<Record<keyof AnswerBody, Schema>> = {
  ...FIGURES_SCHEMA,
  policies: { type: 'array', items: { type: 'object', properties: POLICY_SCHEMA } },
  passedOver: { type: 'array', items: TEXT_SCHEMA },
  degraded: FLAG_SCHEMA,
  priority: TEXT_SCHEMA,
  status: { type: 'integer' },
  reason: TEXT_SCHEMA,
  repeatableMs: NUMBER_SCHEMA,
  leaseMs: NUMBER_SCHEMA,
  headers: HEADERS_SCHEMA,
  upstreamHeaders: HEADERS_SCHEMA,
}
