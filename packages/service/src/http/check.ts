import { type AnswerBody, readPeek, readQuestion } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { ANSWER_SCHEMA } from './answer.ts'
import { answerToClient } from './unasked.ts'

/** `POST /v1/check`: 200 for a decision, whatever it is. */
export function checkRoute(app: App, { check, peek, hold }: Operations, bounds: Bounds): void {
  app.post<{ Reply: AnswerBody }>(
    '/v1/check',
    { schema: { response: { 200: { type: 'object', properties: ANSWER_SCHEMA } } } },
    async ({ body, query }) => {
      const looks = readPeek(query)
      const reply = await (looks ? peek : check)(readQuestion(body, bounds))
      if (!looks) await hold([reply.decision])
      return answerToClient(reply)
    },
  )
}
