import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { ANSWER_FIELDS, type AnswerBody, answerOf } from './answer.ts'
import type { Ask } from './ask.ts'
import { PEEK_QUERY, type PeekQuery, peeks } from './peek.ts'
import { type QuestionBody, questionOf, questionSchema } from './question.ts'

/** `POST /v1/check`: 200 for a decision, whatever it is. */
export function checkRoute(app: App, ask: Ask, bounds: Bounds): void {
  app.post<{ Body: QuestionBody; Querystring: PeekQuery; Reply: AnswerBody }>(
    '/v1/check',
    {
      schema: {
        querystring: PEEK_QUERY,
        body: questionSchema(bounds),
        response: { 200: { type: 'object', properties: ANSWER_FIELDS } },
      },
    },
    async ({ body, query }) => answerOf(await ask(questionOf(body), peeks(query))),
  )
}
