import { maybePromise } from '../../../maybe-promise.ts'
import type { Event, Observer } from '../../../observe/events.ts'
import type { Logger } from './options.ts'

/** The same observer: its failure is logged, and is none of the request's. */
export function harmless(observe: Observer, logger: Logger): Observer {
  const failed = (error: unknown): void => logger.error(`rate limit: observe failed (${String(error)})`)
  const guarded = (event: Event): void => {
    try {
      const result = maybePromise<unknown>(observe(event))
      if (result instanceof Promise) result.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
  const { types, listens } = observe
  return Object.assign(guarded, types && { types }, listens && { listens })
}
