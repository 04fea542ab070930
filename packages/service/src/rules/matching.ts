import type { Rules } from '@sluice/limiter/core/match/compile'
import type { Matched } from '@sluice/limiter/core/match/match'
import { createPipeline, type Question } from '@sluice/limiter/pipeline'
import { MemoryStore } from '@sluice/limiter/stores/memory'

/** What a request meets, decided by nobody. @throws BadQuestion, UnknownDomain */
export type Match = (question: Question) => Matched

/** The pipeline over a store of its own, in which nothing ever is. */
export function matching(rules: () => Rules): Match {
  const pipeline = createPipeline<false>({ rules, store: new MemoryStore() })
  return (question) => pipeline.handle(question, true).matched
}
