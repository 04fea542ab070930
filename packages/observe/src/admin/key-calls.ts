import type { KeyVerbs, NamedKey } from './key-verbs.ts'
import { HttpError } from './problem.ts'

const NAMES = ['domain', 'policy', 'key']

/** The calls for one key; each is given its parameters, or the JSON of its body, and gives the answer's. */
export interface KeyCalls {
  /** `GET /v1/key?domain=…&policy=…&key=…`: what its next request of cost 1 would be answered; nothing is charged. */
  look(parameters: unknown): Promise<object>
  /** `POST /v1/block`: refuses it for a `duration`. */
  block(body: unknown): Promise<object>
  /** `POST /v1/unblock` */
  unblock(body: unknown): Promise<object>
  /** `POST /v1/reset` */
  reset(body: unknown): Promise<object>
}

/**
 * @param maxTextLength of a name, and of a key
 * @throws HttpError (rejects) for names that are missing, or not known here
 * @example
 * await keyCalls(verbs, 4_096).block({ domain: 'shop', policy: 'login', key: '203.0.113.7', duration: '10m' })
 */
export function keyCalls(verbs: KeyVerbs, maxTextLength: number): KeyCalls {
  const read = (given: unknown): NamedKey => readNamed(given, maxTextLength)
  return {
    async look(parameters) {
      const named = read(parameters)
      const figures = (await verbs.peekKey(named)).map(({ decision, blockable }) => ({
        ...decision.policies[0]!,
        degraded: decision.degraded,
        blockable,
      }))
      return { ...named, figures }
    },
    async block(body) {
      const { duration, ...rest } = Object(body) as Readonly<Record<string, unknown>>
      if (typeof duration !== 'string') throw new HttpError(400, 'duration must be text, such as 10m')
      const named = read(rest)
      await verbs.blockKey(named, duration)
      return { blocked: named.policy, duration }
    },
    async unblock(body) {
      const named = read(body)
      await verbs.blockKey(named, 0)
      return { unblocked: named.policy }
    },
    reset: async (body) => ({ reset: await verbs.resetKey(read(body)) }),
  }
}

function readNamed(given: unknown, maxTextLength: number): NamedKey {
  const values = Object(given) as Readonly<Record<string, unknown>>
  for (const name of Object.keys(values)) {
    if (!NAMES.includes(name))
      throw new HttpError(400, `there is no ${name.slice(0, 40)} here: name ${NAMES.join(', ')}`)
  }
  for (const name of NAMES) {
    const value = values[name]
    if (typeof value !== 'string' || value.length > maxTextLength)
      throw new HttpError(400, `${name} must be text of at most ${maxTextLength} characters`)
  }
  return values as unknown as NamedKey
}
