import { decisionOf } from '@sluice/limiter/decide'
import type { Observer } from '@sluice/limiter/events'
import type { Timers } from '@sluice/limiter/gate'
import type { Pipeline, Question, Reply } from '@sluice/limiter/pipeline'
import { decideWithin } from '../bounded-store.ts'
import type { Stores } from '../stores.ts'

/** Decides a request for a caller who waits for `ms` milliseconds: then rules go by their `on_store_error`. */
export type CheckWithin = (question: Question, ms: number) => Promise<Reply>

export interface WithinParts {
  readonly pipeline: Pipeline<boolean>
  readonly stores: Pick<Stores, 'store' | 'fallback'>
  readonly observe: Observer
  readonly timers: Timers
}

/** A caller may wait for less long than the store's own deadline. */
export function checkWithin({ pipeline, stores, observe, timers }: WithinParts): CheckWithin {
  return async (question, ms) => {
    if (stores.fallback === undefined) return pipeline.check(question)
    const { domain } = question
    const matched = pipeline.match(question)
    for (const policy of matched.missing) observe({ type: 'key-missing', domain, policy })
    const outcome = await decideWithin(stores, matched.steps, false, ms, timers)
    const decision = decisionOf(matched.steps, outcome, false)
    const { method, path } = question.request ?? {}
    observe({ type: 'decided', domain, decision, peek: false, method, path })
    return pipeline.respond(decision, matched, question.cost)
  }
}
