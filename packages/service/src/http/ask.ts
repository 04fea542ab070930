import type { Pipeline, Question, Reply } from '@sluice/limiter/pipeline'

/** Decides one request; with `peek` it only looks. Requests are decided in the order in which they are asked. */
export type Ask = (question: Question, peek?: boolean) => Promise<Reply>

/** The pipeline, with every decision timed. */
export function asking(pipeline: Pipeline<boolean>, timed: (seconds: number) => void): Ask {
  return async (question, peek) => {
    const began = performance.now()
    const reply = await pipeline.handle(question, peek)
    timed((performance.now() - began) / 1_000)
    return reply
  }
}
