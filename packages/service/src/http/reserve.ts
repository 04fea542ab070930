import { randomUUID } from 'node:crypto'
import type { Decision } from '@sluice/limiter'
import { receipt } from '@sluice/limiter/decide'
import { TICKS_PER_MS } from '@sluice/limiter/time'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { fields, type Schema, WHOLE } from '../schema.ts'
import { ANSWER_FIELDS, type AnswerBody, answerOf } from './answer.ts'
import type { Ask } from './ask.ts'
import { type QuestionBody, questionOf, subjectFields } from './question.ts'
import type { Charged, ReservationIds, Reserved } from './reservation-id.ts'

interface ReserveBody extends QuestionBody {
  /** For how long it can be settled. Unsettled, the estimate stands. */
  readonly ttl_ms?: number
}

interface ReserveAnswer extends AnswerBody {
  /** For commit and cancel; null when the request was refused. */
  readonly id: string | null
}

const DAY_MS = 86_400_000
const TTL: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: DAY_MS,
  description: `a whole number from 1 to ${DAY_MS}`,
}
const DEFAULT_TTL_MS = 60_000

/** `POST /v1/reserve`: charges an estimate, to be settled by commit or cancel. */
export function reserveRoute(app: App, ask: Ask, ids: ReservationIds, bounds: Bounds): void {
  app.post<{ Body: ReserveBody; Reply: ReserveAnswer }>(
    '/v1/reserve',
    {
      schema: {
        querystring: fields({}),
        body: fields({ ...subjectFields(bounds), cost: WHOLE, ttl_ms: TTL }, 'domain'),
        response: {
          200: { type: 'object', properties: { ...ANSWER_FIELDS, id: { type: 'string', nullable: true } } },
        },
      },
    },
    async ({ body }) => {
      const question = questionOf(body)
      const reply = await ask(question)
      const reserved = reservedOf(reply.decision, (body.ttl_ms ?? DEFAULT_TTL_MS) * TICKS_PER_MS)
      return { ...answerOf(reply), id: reserved === undefined ? null : ids.seal(reserved) }
    },
  )
}

/** `undefined` when nothing was charged. */
function reservedOf(decision: Decision, ttl: number): Reserved | undefined {
  const left = decision[receipt]
  if (left?.charged !== true) return undefined
  const { steps, outcome } = left
  const { figures, at, chargedAt = at, degraded } = outcome
  const charges: Charged[] = []
  let policies = 0
  for (let i = 0; i < steps.length; i++) {
    const { role, plan, watches: _watches, ...charge } = steps[i]!
    if (role === 'guard') continue
    const { policy: name } = decision.policies[policies++]!
    if (!figures[i]!.allowed) continue
    charges.push({ name, plan: plan.source!, ...charge })
  }
  return { id: randomUUID(), at: chargedAt, until: at + ttl, ...(degraded && { degraded }), charges }
}
