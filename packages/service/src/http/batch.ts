import { Readable } from 'node:stream'
import type { Decision } from '@sluice/limiter'
import type { Question, Reply } from '@sluice/limiter/pipeline'
import { readBatch, readPeek, readQuestion } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations, Unanswered } from '../operations/operations.ts'
import { problemBodyOf } from '../problem.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { Turns } from '../turns.ts'
import { ANSWER_TYPE, answerText } from './answer.ts'

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
  const problemText = (error: unknown): string => {
    const found = problemBodyOf(error)
    if (found.status === 500) app.log.error({ err: error }, 'a request failed')
    return JSON.stringify(found)
  }
  app.post('/v1/check/batch', { bodyLimit: bounds.maxBatchBytes }, async (request, reply) => {
    const peek = readPeek(request.query)
    const items = readBatch(request.body, bounds)
    const refusals: Decision[] = []
    const within = telemetry?.carry() ?? ((go) => go())
    const textOf = (answered: Reply | Unanswered): string => {
      if (!('decision' in answered)) return problemText(answered.error)
      if (!answered.decision.allowed && !peek) refusals.push(answered.decision)
      return answerText(answered)
    }
    const answer = async (readings: readonly ReadItem[]): Promise<string> => {
      const questions = readings.filter((reading) => 'domain' in reading)
      const answers = await within(() => operations.checkEach(questions, peek))
      let next = 0
      return readings.map((reading) => textOf('domain' in reading ? answers[next++]! : reading)).join(',')
    }
    // Whoever does not read the answer holds the memory of the request.
    let held = false
    reply.raw.setTimeout(bounds.requestTimeoutMs, () => {
      if (!held) reply.raw.destroy()
    })
    const answers = inTurns(
      items,
      (item) => readingOf(item, bounds),
      answer,
      async () => {
        held = true
        await operations.hold(refusals)
        held = false
      },
    )
    reply.type(ANSWER_TYPE)
    // A short list is one write.
    if (items.length <= MOST_AT_ONCE) return reply.send(await joined(answers))
    return reply.send(Readable.from(answers, { objectMode: false }))
  })
}

/** A question, or why an item is none. */
type ReadItem = Question | Unanswered

function readingOf(item: unknown, bounds: Bounds): ReadItem {
  try {
    return readQuestion(item, bounds, 'the request')
  } catch (error) {
    return { error }
  }
}

/**
 * The answers as JSON, made as they are read.
 * @param ending is awaited before the list ends
 */
async function* inTurns(
  items: readonly unknown[],
  read: (item: unknown) => ReadItem,
  answer: (readings: readonly ReadItem[]) => Promise<string>,
  ending: () => Promise<void>,
): AsyncGenerator<string> {
  let before = '['
  const turns = new Turns()
  for (let next = 0; next < items.length; await turns.next()) {
    const readings: ReadItem[] = []
    do readings.push(read(items[next++]))
    while (next < items.length && readings.length < MOST_AT_ONCE && !turns.over)
    yield before + (await answer(readings))
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
