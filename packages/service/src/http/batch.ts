import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { type Problem, problem, problemOf } from '../problem.ts'
import { list, type Schema } from '../schema.ts'
import { detailOf } from '../validation.ts'
import { ANSWER_FIELDS, type AnswerBody, answerOf } from './answer.ts'
import type { Ask } from './ask.ts'
import { PEEK_QUERY, type PeekQuery, peeks } from './peek.ts'
import { type QuestionBody, questionOf, questionSchema } from './question.ts'

/** An answer, or the problem with the request that stood there: only a problem has a `status`. */
type Item = AnswerBody | Problem

const ITEM: Schema = {
  type: 'object',
  properties: {
    ...ANSWER_FIELDS,
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
  },
}

/** `POST /v1/check/batch`: a list of requests, each decided by itself, in order; a list of answers. */
export function batchRoute(app: App, ask: Ask, bounds: Bounds): void {
  const question = questionSchema(bounds)
  const decide = async (request: FastifyRequest, body: unknown, peek: boolean): Promise<Item> => {
    const valid = request.compileValidationSchema(question)
    if (!valid(body)) return problem(400, detailOf(valid.errors ?? [], 'the request'))
    try {
      return answerOf(await ask(questionOf(body as QuestionBody), peek))
    } catch (error) {
      const found = problemOf(error)
      if (found.status === 500) request.log.error({ err: error }, 'a request failed')
      return found
    }
  }
  app.post<{ Body: readonly unknown[]; Querystring: PeekQuery; Reply: Item[] }>(
    '/v1/check/batch',
    {
      bodyLimit: bounds.maxBatchBytes,
      schema: {
        querystring: PEEK_QUERY,
        body: list({}, bounds.maxBatch),
        response: { 200: { type: 'array', items: ITEM } },
      },
    },
    (request) => Promise.all(request.body.map((body) => decide(request, body, peeks(request.query)))),
  )
}
