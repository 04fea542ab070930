import { type AnswerBody, answerOf, readPeek, readQuestion } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { ANSWER_FIELDS } from './answer.ts'
import type { Ask } from './ask.ts'

/** `POST /v1/check`: 200 for a decision, whatever it is. */
export function checkRoute(app: App, ask: Ask, bounds: Bounds): void {
  app.post<{ Reply: AnswerBody }>(
    '/v1/check',
    { schema: { response: { 200: { type: 'object', properties: ANSWER_FIELDS } } } },
    async ({ body, query }) => answerOf(await ask(readQuestion(body, bounds), readPeek(query))),
  )
}
