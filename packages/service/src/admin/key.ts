import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { NamedKey } from '../operations/one-key.ts'
import type { Operations } from '../operations/operations.ts'
import { HttpError } from '../problem.ts'

const NAMES = ['domain', 'policy', 'key'] as const

/**
 * `GET /v1/key?domain=…&policy=…&key=…`: what the key's next request of cost 1 would be answered; nothing is charged.
 * `POST /v1/block` refuses the key for a `duration`, and `POST /v1/unblock` ends its block.
 */
export function keyRoutes(app: App, operations: Operations, bounds: Bounds): void {
  app.get('/v1/key', async ({ query }) => {
    const named = readKey(query, NAMES, bounds)
    const figures = (await operations.peekKey(named)).map(({ decision, blockable }) => ({
      ...decision.policies[0]!,
      degraded: decision.degraded,
      blockable,
    }))
    return { ...named, figures }
  })
  app.post('/v1/block', async ({ body }) => {
    const { duration, ...rest } = Object(body) as Readonly<Record<string, unknown>>
    if (typeof duration !== 'string') throw new HttpError(400, 'duration must be text, such as 10m')
    const named = readKey(rest, NAMES, bounds)
    await operations.blockKey(named, duration)
    return { blocked: named.policy, duration }
  })
  app.post('/v1/unblock', async ({ body }) => {
    const named = readKey(body, NAMES, bounds)
    await operations.blockKey(named, 0)
    return { unblocked: named.policy }
  })
}

function readKey(given: unknown, names: readonly string[], { maxTextLength }: Bounds): NamedKey {
  const values = Object(given) as Readonly<Record<string, unknown>>
  for (const name of Object.keys(values)) {
    if (!names.includes(name))
      throw new HttpError(400, `there is no ${name.slice(0, 40)} here: name ${names.join(', ')}`)
  }
  for (const name of names) {
    const value = values[name]
    if (typeof value !== 'string' || value.length > maxTextLength)
      throw new HttpError(400, `${name} must be text of at most ${maxTextLength} characters`)
  }
  return values as unknown as NamedKey
}
