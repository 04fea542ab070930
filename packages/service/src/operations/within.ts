import { StoreError } from '@sluice/limiter/errors'
import type { Observer } from '@sluice/limiter/events'
import type { Pipeline, PipelineOptions, Question, Reply } from '@sluice/limiter/pipeline'
import { createPipeline } from '@sluice/limiter/pipeline'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import type { Store } from '@sluice/limiter/stores/store'
import { startTimer, type Timers } from '@sluice/limiter/time'

/** Answers a question in a bounded time: after it, as each rule's `on_store_error` says. */
export type CheckWithin = (question: Question, ms: number) => Reply | Promise<Reply>

export interface WithinParts {
  readonly pipeline: Pipeline<boolean>
  /** Of the same pipeline, but for its store. */
  readonly options: Omit<PipelineOptions<boolean>, 'store'>
  readonly timers: Timers
}

/**
 * A caller may wait for less long than the store's own deadline, which the service cannot know. What the store answers
 * later may have charged.
 */
export function checkWithin({ pipeline, options, timers }: WithinParts): CheckWithin {
  const withoutStore = createPipeline({
    ...options,
    store: new FallbackStore(NO_STORE, { observe: nothing }),
  })
  return (question, ms) => {
    const answer = pipeline.check(question)
    if (!(answer instanceof Promise)) return answer
    return new Promise((resolve, reject) => {
      const stop = startTimer(() => resolve(withoutStore.check(question)), ms, { timers })
      answer.then(resolve, reject).finally(stop)
    })
  }
}

const nothing: Observer = () => undefined

function none(): never {
  throw new StoreError('the store is not asked: the caller waits no longer')
}

/** Whatever is asked of it, it fails, so that rules go by their `on_store_error`. */
const NO_STORE: Store<false> = {
  async: false,
  decide: none,
  settle: none,
  reset: none,
  block: none,
  close: () => undefined,
}
