import { readReset } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'

/**
 * `POST /v1/reset`: forgets what one key has used, and its blocks: in every policy that a request meets, or in the
 * policy named, with the key as `sluice explain` shows it.
 */
export function resetRoute(app: App, operations: Operations, bounds: Bounds): void {
  app.post('/v1/reset', async ({ body }) => {
    const asked = readReset(body, bounds)
    const reset = 'policy' in asked ? await operations.resetKey(asked) : await operations.reset(asked)
    return { reset }
  })
}
