import { readNoQuery, readReserve } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { ANSWER_TYPE, answerText } from './answer.ts'

/** `POST /v1/reserve`: charges an estimate, to be settled by commit or cancel. */
export function reserveRoute(app: App, operations: Operations, bounds: Bounds): void {
  app.post('/v1/reserve', async ({ body, query }, reply) => {
    readNoQuery(query)
    const { question, ttlMs } = readReserve(body, bounds)
    const reserved = await operations.reserve(question, ttlMs)
    await operations.hold([reserved.decision])
    return reply.type(ANSWER_TYPE).send(answerText(reserved, `,"id":${JSON.stringify(reserved.id)}`))
  })
}
