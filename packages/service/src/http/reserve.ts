import { type ReserveAnswerBody, readNoQuery, readReserve } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { ANSWER_SCHEMA } from './answer.ts'
import { answerToClient } from './unasked.ts'

/** `POST /v1/reserve`: charges an estimate, to be settled by commit or cancel. */
export function reserveRoute(app: App, operations: Operations, bounds: Bounds): void {
  app.post<{ Reply: ReserveAnswerBody }>(
    '/v1/reserve',
    {
      schema: {
        response: {
          200: { type: 'object', properties: { ...ANSWER_SCHEMA, id: { type: 'string', nullable: true } } },
        },
      },
    },
    async ({ body, query }) => {
      readNoQuery(query)
      const { question, ttlMs } = readReserve(body, bounds)
      const reserved = await operations.reserve(question, ttlMs)
      await operations.hold([reserved.decision])
      return { ...answerToClient(reserved), id: reserved.id }
    },
  )
}
