import { randomUUID } from 'node:crypto'
import { type Decision, receipt } from '@sluice/limiter/core/decide/decision'
import { TICKS_PER_MS } from '@sluice/limiter/core/time'
import { answerOf, type ReserveAnswerBody, readNoQuery, readReserve } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { ANSWER_FIELDS } from './answer.ts'
import type { Ask } from './ask.ts'
import type { Charged, ReservationIds, Reserved } from './reservation-id.ts'

/** `POST /v1/reserve`: charges an estimate, to be settled by commit or cancel. */
export function reserveRoute(app: App, ask: Ask, ids: ReservationIds, bounds: Bounds): void {
  app.post<{ Reply: ReserveAnswerBody }>(
    '/v1/reserve',
    {
      schema: {
        response: {
          200: { type: 'object', properties: { ...ANSWER_FIELDS, id: { type: 'string', nullable: true } } },
        },
      },
    },
    async ({ body, query }) => {
      readNoQuery(query)
      const { question, ttlMs } = readReserve(body, bounds)
      const reply = await ask(question)
      const reserved = reservedOf(reply.decision, ttlMs * TICKS_PER_MS)
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
