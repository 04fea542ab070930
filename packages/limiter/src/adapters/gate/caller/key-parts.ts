import { BadQuestion } from '../../../bad-question.ts'
import { ConfigError } from '../../../core/errors.ts'
import { Facts } from '../../../core/identify/facts.ts'
import { type Params, type Part, parsePart } from '../../../core/identify/key-part.ts'
import { hashedPart, keyPart } from '../../../core/identify/key-text.ts'
import { keyedHash } from '../../../core/identify/keyed-hash.ts'
import { under } from '../../../core/options.ts'
import type { Request } from '../../../core/request.ts'
import { andThen, type MaybePromise, maybePromise } from '../../../maybe-promise.ts'
import { factsRequest } from '../facts-request.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import type { KeyArgs, KeyPart } from '../options/options.ts'
import type { GateSettings } from '../options/settings.ts'
import type { Caller } from './caller-key.ts'

/** Gives the parts of a request's key; `undefined` where it lacks one of them. */
type PartsOf<N extends FrameworkArgs> = (
  incoming: IncomingRequest<N>,
  here: Caller | undefined,
) => MaybePromise<readonly string[] | undefined>

/** Parts that only the application knows. */
const OF_ATTRIBUTES = ['user', 'tenant', 'route', 'api-key', 'attribute', 'param']
const NO_PARAMS: Params = /* @__PURE__ */ new Map()

/**
 * Reads keys that are lists of parts: names, as rulebooks have them, and functions. `ip` is the caller's own key by
 * address. What holds credentials, and what is long, counts by its hash.
 * @throws ConfigError for text that names no part, or one that needs `attributes` where there are none
 */
export function keyParts<N extends FrameworkArgs>(
  parts: readonly KeyPart<KeyArgs<N>>[],
  { attributes }: Pick<GateSettings<N>, 'attributes'>,
): PartsOf<N> {
  const hash = keyedHash('')
  const named = parts.map((part, i) => (typeof part === 'string' ? partNamed(part, i) : undefined))
  const needsAttributes = named.find((part) => part !== undefined && OF_ATTRIBUTES.includes(part.kind))
  if (needsAttributes !== undefined && attributes === undefined)
    throw new ConfigError(
      `key: only the application knows ${needsAttributes.kind}: give attributes, a function of the request, or a function in its place`,
      { path: ['key'] },
    )
  const needsRequest = named.some((part) => part !== undefined && part.kind !== 'ip')

  const factsOf = (incoming: IncomingRequest<N>, address: string | undefined): MaybePromise<Facts> => {
    if (!needsRequest) return new Facts(address === undefined ? {} : { ip: address }, true)
    const request: Request = factsRequest(incoming, address)
    return andThen(
      maybePromise(attributes?.(...incoming.args)),
      (own) => new Facts(own === undefined ? request : { ...request, attributes: own }, true),
    )
  }
  const textOf = (part: Part, facts: Facts): string | undefined => {
    const value = part.read(facts, NO_PARAMS)
    if (facts.problem !== undefined) throw new BadQuestion(facts.problem)
    if (value === undefined || value === '') return undefined
    return part.secret ? hashedPart(value, hash) : keyPart(value, hash)
  }
  return async (incoming, here) => {
    const facts = await factsOf(incoming, here?.address)
    const key: string[] = []
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      const own =
        typeof part === 'function'
          ? await part(...incoming.args, here?.address)
          : part === 'ip'
            ? here?.shown
            : textOf(named[i]!, facts)
      if (own === undefined || own === null || own === '') return undefined
      if (typeof own !== 'string' && !Number.isFinite(own))
        throw new ConfigError(`key[${i}] must give a string or a number, not ${typeof own}`)
      key.push(`${own}`)
    }
    return key
  }
}

function partNamed(text: string, i: number): Part {
  return under(['key', i], () => parsePart(text))
}
