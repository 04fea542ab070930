import { Readable } from 'node:stream'
import type { Decision } from '@sluice/limiter'
import type { Reply } from '@sluice/limiter/pipeline'
import { type ProblemBody, readBatch, readPeek, readQuestion } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { problemBodyOf } from '../problem.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { Turns } from '../turns.ts'
import { ANSWER_SCHEMA, type Schema } from './answer.ts'
import { answerToClient } from './unasked.ts'

/** An answer, or the problem with the request that stood there: only an answer has `allowed`. */
const ITEM: Schema = {
  type: 'object',
  properties: {
    ...ANSWER_SCHEMA,
    type: { type: 'string' },
    title: { type: 'string' },
    detail: { type: 'string' },
  },
}

/** Requests that are asked together, so that a shared store gets them in one trip. */
const MOST_AT_ONCE = 64

/**
 * `POST /v1/check/batch`: a list of requests, each decided by itself, in order; a list of answers. It is decided as
 * fast as it is read, a few requests in each turn of the event loop.
 */
export function batchRoute(
  app: App,
  operations: Operations,
  bounds: Bounds,
  telemetry?: Pick<Telemetry, 'carry'>,
): void {
  const decide = async (item: unknown, peek: boolean): Promise<Reply | ProblemBody> => {
    try {
      const ask = peek ? operations.peek : operations.check
      return await ask(readQuestion(item, bounds, 'the request'))
    } catch (error) {
      const found = problemBodyOf(error)
      if (found.status === 500) app.log.error({ err: error }, 'a request failed')
      return found
    }
  }
  app.post('/v1/check/batch', { bodyLimit: bounds.maxBatchBytes }, async (request, reply) => {
    const peek = readPeek(request.query)
    const items = readBatch(request.body, bounds)
    const write = reply.compileSerializationSchema(ITEM)
    const refusals: Decision[] = []
    const within = telemetry?.carry()
    const answer = async (item: unknown): Promise<string> => {
      const asked = (): Promise<Reply | ProblemBody> => decide(item, peek)
      const answered = await (within === undefined ? asked() : within(asked))
      if (!('decision' in answered)) return write({ ...answered })
      if (!answered.decision.allowed && !peek) refusals.push(answered.decision)
      return write({ ...answerToClient(answered) })
    }
    // Whoever does not read the answer holds the memory of the request.
    let held = false
    reply.raw.setTimeout(bounds.requestTimeoutMs, () => {
      if (!held) reply.raw.destroy()
    })
    const answers = inTurns(items, answer, async () => {
      held = true
      await operations.hold(refusals)
      held = false
    })
    reply.type('application/json; charset=utf-8')
    // A short list is one write.
    if (items.length <= MOST_AT_ONCE) return reply.send(await joined(answers))
    return reply.send(Readable.from(answers, { objectMode: false }))
  })
}

/**
 * The answers as JSON, made as they are read.
 * @param ending is awaited before the list ends
 */
async function* inTurns(
  items: readonly unknown[],
  answer: (item: unknown) => Promise<string>,
  ending: () => Promise<void>,
): AsyncGenerator<string> {
  let before = '['
  const turns = new Turns()
  for (let next = 0; next < items.length; await turns.next()) {
    const asked: Promise<string>[] = []
    do asked.push(answer(items[next++]))
    while (next < items.length && asked.length < MOST_AT_ONCE && !turns.over)
    yield before + (await Promise.all(asked)).join(',')
    before = ','
  }
  await ending()
  yield before === '[' ? '[]' : ']'
}

async function joined(texts: AsyncIterable<string>): Promise<string> {
  let all = ''
  for await (const text of texts) all += text
  return all
}
