import {
  type AnswerBody,
  answerOf,
  type ProblemBody,
  readBatch,
  readPeek,
  readQuestion,
} from '@sluice/limiter/wire'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { problemBodyOf } from '../problem.ts'
import { ANSWER_SCHEMA, type Schema } from './answer.ts'

/** An answer, or the problem with the request that stood there: only a problem has a `status`. */
type BatchItem = AnswerBody | ProblemBody

const ITEM: Schema = {
  type: 'object',
  properties: {
    ...ANSWER_SCHEMA,
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
  },
}

/** `POST /v1/check/batch`: a list of requests, each decided by itself, in order; a list of answers. */
export function batchRoute(app: App, operations: Operations, bounds: Bounds): void {
  const decide = async (request: FastifyRequest, item: unknown, peek: boolean): Promise<BatchItem> => {
    try {
      const ask = peek ? operations.peek : operations.check
      return answerOf(await ask(readQuestion(item, bounds, 'the request')))
    } catch (error) {
      const found = problemBodyOf(error)
      if (found.status === 500) request.log.error({ err: error }, 'a request failed')
      return found
    }
  }
  app.post<{ Reply: BatchItem[] }>(
    '/v1/check/batch',
    { bodyLimit: bounds.maxBatchBytes, schema: { response: { 200: { type: 'array', items: ITEM } } } },
    async (request) => {
      const peek = readPeek(request.query)
      return Promise.all(readBatch(request.body, bounds).map((item) => decide(request, item, peek)))
    },
  )
}
