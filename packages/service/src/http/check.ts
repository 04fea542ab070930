import { readPeek, readQuestion } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { ANSWER_TYPE, answerText } from './answer.ts'

/** `POST /v1/check`: 200 for a decision, whatever it is. */
export function checkRoute(app: App, { check, peek, hold }: Operations, bounds: Bounds): void {
  app.post('/v1/check', async ({ body, query }, reply) => {
    const looks = readPeek(query)
    const answered = await (looks ? peek : check)(readQuestion(body, bounds))
    const held = looks ? undefined : hold([answered.decision])
    if (held !== undefined) await held
    reply.type(ANSWER_TYPE)
    return answerText(answered)
  })
}
