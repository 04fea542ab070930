import { ConfigError } from '../../../core/errors.ts'
import type { MaybePromise } from '../../../maybe-promise.ts'
import type { Key, Keys } from '../../../policy-steps.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import type { RequestKey } from '../options/options.ts'
import type { GateSettings } from '../options/settings.ts'

/** Who sent a request, and which counter it charges. */
export interface Caller {
  readonly address: string | undefined
  readonly key: Key | Keys
  /** The key as lists name it, and as the application sees it. */
  readonly shown: string | undefined
  /** What becomes of a request that lacks a key. */
  readonly keyless?: 'skip' | 'deny'
}

export type FindCaller<N extends FrameworkArgs> = (incoming: IncomingRequest<N>) => MaybePromise<Caller>

/** All requests that lack a key, where they share one. Lists of parts never collide with a text. */
const ANYONE = { key: ['anyone'], shown: '' }
/** No key: rules find their keys by themselves, and a request that lacks one is skipped or refused. */
export const NO_KEY = { key: '', shown: undefined }

/** What becomes of a request without a key. @param here its caller by address, where that is known */
export function keylessCaller(
  onMissingKey: GateSettings<FrameworkArgs>['onMissingKey'],
): (here: Caller | undefined) => Caller {
  return (here) => {
    const address = here?.address
    if (onMissingKey === 'share') return { address, ...ANYONE }
    if (onMissingKey === 'skip' || onMissingKey === 'deny')
      return { address, ...NO_KEY, keyless: onMissingKey }
    if (here !== undefined) return { address, key: ['address', here.shown!], shown: here.shown }
    throw new ConfigError(
      'a request has neither a key nor a client address: set key, address or onMissingKey',
    )
  }
}

/**
 * Reads what the option `key` gave for a request.
 * @param fields those of keys that policies name
 * @param keyless what becomes of a request without a key
 */
export function keyReader(
  fields: readonly string[],
  keyless: (here: Caller | undefined) => Caller,
): (own: unknown, here: Caller | undefined) => Caller {
  if (fields.length === 0)
    return (own, here) => callerWithKey(own as RequestKey, here?.address) ?? keyless(here)
  const absent = Object.fromEntries(fields.map((field) => [field, undefined]))
  // Each field that lacks a key is treated as a request that does.
  return (own, here) => {
    if (typeof own !== 'object' || own === null || Array.isArray(own))
      throw new ConfigError(`key must give an object with ${fields.join(', ')}, which policies name`)
    const keys: Record<string, Key> = {}
    for (const [field, given] of Object.entries({ ...absent, ...own })) {
      const one = callerWithKey(given, here?.address) ?? keyless(here)
      if (one.keyless !== undefined) return one
      keys[field] = one.key as Key
    }
    return { address: here?.address, key: keys, shown: shownKey(keys) }
  }
}

/** The fields of keys that policies name. */
export function fieldsOf({
  policies,
  limiter,
}: Pick<GateSettings<FrameworkArgs>, 'limiter'> & {
  readonly policies?: Readonly<Record<string, { readonly key?: string }>>
}): readonly string[] {
  const named = Object.values(limiter?.policies ?? policies ?? {}).map(({ key }) => key)
  return [...new Set(named.filter((field) => field !== undefined))]
}

/** A key as lists name it, and as the application sees it. */
export function shownKey(key: Key | Keys): string {
  return typeof key === 'string' ? key : Object.values(key).flat().join(' ')
}

/** @throws ConfigError for what is neither a key nor the lack of one */
function callerWithKey(own: RequestKey | null, address: string | undefined): Caller | undefined {
  if (own === undefined || own === null || own === '') return undefined
  if (typeof own === 'string') return { address, key: own, shown: own }
  if (typeof own === 'number' && Number.isFinite(own)) return { address, key: `${own}`, shown: `${own}` }
  if (Array.isArray(own) && own.length > 0 && own.every((part) => typeof part === 'string')) {
    return { address, key: own, shown: shownKey(own) }
  }
  throw new ConfigError(`key must be a string, a number or an array of strings, not ${typeof own}`)
}
