import { maybePromise } from '../../../maybe-promise.ts'
import type { Observer } from '../../../observe/events.ts'
import type { Logger } from './options.ts'

/** The same observer: its failure is logged, and is none of the request's. */
export function harmless(observe: Observer, logger: Logger): Observer {
  const failed = (error: unknown): void => logger.error(`rate limit: observe failed (${String(error)})`)
  return (event) => {
    try {
      const result = maybePromise<unknown>(observe(event))
      if (result instanceof Promise) result.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
