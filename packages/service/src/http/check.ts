import { type AnswerBody, answerOf, readPeek, readQuestion } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { ANSWER_SCHEMA } from './answer.ts'

/** `POST /v1/check`: 200 for a decision, whatever it is. */
export function checkRoute(app: App, { check, peek }: Operations, bounds: Bounds): void {
  app.post<{ Reply: AnswerBody }>(
    '/v1/check',
    { schema: { response: { 200: { type: 'object', properties: ANSWER_SCHEMA } } } },
    async ({ body, query }) => {
      const ask = readPeek(query) ? peek : check
      return answerOf(await ask(readQuestion(body, bounds)))
    },
  )
}
