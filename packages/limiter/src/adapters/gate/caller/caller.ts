import { ConfigError } from '../../../core/errors.ts'
import { clientAddress, type Proxies } from '../../../core/identify/forwarded.ts'
import { ipKey } from '../../../core/identify/ip.ts'
import { checkOptions } from '../../../core/options.ts'
import { andThen, type MaybePromise, maybePromise } from '../../../maybe-promise.ts'
import { memoized } from '../../../memoize.ts'
import type { Key, Keys } from '../../../policy-steps.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import { ipv6SubnetCheck, listOfProxies } from '../options/fields.ts'
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

/** All requests that lack a key, where they share one. Lists of parts never collide with a text. */
const ANYONE = { key: ['anyone'], shown: '' }
/** No key: rules find their keys by themselves, and a request that lacks one is skipped or refused. */
const NO_KEY = { key: '', shown: undefined }

type FindCaller<N extends FrameworkArgs> = (incoming: IncomingRequest<N>) => MaybePromise<Caller>

/** @throws ConfigError for proxies or prefixes that are wrong */
export function callerOf<N extends FrameworkArgs>(settings: GateSettings<N>): FindCaller<N> {
  const { ipv6Subnet = 64 } = settings
  if (typeof ipv6Subnet !== 'function') return callerWithin(settings, ipv6Subnet)
  const finders = new Map<number | false, FindCaller<N>>([[64, callerWithin(settings, 64)]]) // now, to show mistakes beside it
  const finderFor = (subnet: number | false): FindCaller<N> => {
    const known = finders.get(subnet)
    if (known !== undefined) return known
    checkOptions(subnet, ipv6SubnetCheck, 'ipv6Subnet')
    const made = callerWithin(settings, subnet)
    finders.set(subnet, made)
    return made
  }
  return (incoming) =>
    andThen(maybePromise(ipv6Subnet(...incoming.args)), (subnet) => finderFor(subnet)(incoming))
}

/** @param ipv6Subnet leading bits of IPv6 that make one caller; `false`: all */
function callerWithin<N extends FrameworkArgs>(
  settings: GateSettings<N>,
  ipv6Subnet: number | false,
): FindCaller<N> {
  const { key, address: ask, onMissingKey = 'address', proxyHeader = 'x-forwarded-for', rules } = settings
  const { ipv4Subnet = 32 } = settings
  const ipv6Bits = ipv6Subnet === false ? 128 : ipv6Subnet
  const fields = fieldsOf(settings)
  const absent = Object.fromEntries(fields.map((field) => [field, undefined]))
  if (fields.length > 0 && key === undefined)
    throw new ConfigError(
      `policies name ${fields.join(', ')}: give key, a function that gives an object with them`,
    )
  const trusts = trustsProxies(settings)
  const find = clientAddress(proxiesOf(settings))
  const callerAt = memoized((text): Caller | undefined => {
    const address = find(text, undefined)
    const own = address && ipKey(address, ipv4Subnet, ipv6Bits)
    return own ? { address, key: own, shown: own } : undefined
  })

  const at = (peer: string | undefined, { headers }: IncomingRequest<N>): Caller | undefined => {
    const address = find(peer, headers[proxyHeader])
    return address === undefined ? undefined : callerAt(address)
  }
  const located = (peer: string | undefined, incoming: IncomingRequest<N>): Caller | undefined => {
    if (trusts) return at(peer, incoming)
    // Where headers are not read, they are not made.
    return peer === undefined ? undefined : callerAt(peer)
  }
  const missing = (here: Caller | undefined): Caller => {
    const address = here?.address
    if (onMissingKey === 'share') return { address, ...ANYONE }
    if (onMissingKey !== 'address') return { address, ...NO_KEY, keyless: onMissingKey }
    if (here !== undefined) return { address, key: ['address', here.shown!], shown: here.shown }
    throw new ConfigError(
      'a request has neither a key nor a client address: set key, address or onMissingKey',
    )
  }
  /** Each field that lacks a key is treated as a request that does. */
  const withFields = (own: unknown, here: Caller | undefined): Caller => {
    if (typeof own !== 'object' || own === null || Array.isArray(own))
      throw new ConfigError(`key must give an object with ${fields.join(', ')}, which policies name`)
    const keys: Record<string, Key> = {}
    for (const [field, given] of Object.entries({ ...absent, ...own })) {
      const one = callerWithKey(given, here?.address) ?? missing(here)
      if (one.keyless !== undefined) return one
      keys[field] = one.key as Key
    }
    return { address: here?.address, key: keys, shown: shownKey(keys) }
  }
  const identified = (incoming: IncomingRequest<N>, here: Caller | undefined): MaybePromise<Caller> => {
    if (rules !== undefined) return { address: here?.address, ...NO_KEY }
    if (key === undefined) return here ?? missing(undefined)
    return andThen(maybePromise(key(...incoming.args)), (own) =>
      fields.length > 0
        ? withFields(own, here)
        : (callerWithKey(own as RequestKey, here?.address) ?? missing(here)),
    )
  }
  if (ask === undefined) return (incoming) => identified(incoming, located(incoming.peer, incoming))
  return (incoming) =>
    andThen(maybePromise(ask(...incoming.args)), (peer) =>
      identified(incoming, located(peer ?? undefined, incoming)),
    )
}

/** The fields of keys that policies name. */
function fieldsOf<N extends FrameworkArgs>({ policies, limiter }: GateSettings<N>): readonly string[] {
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

/** Whether any proxy is trusted; `undefined`: the options do not say. */
export function trustsProxies({
  trustProxy,
}: Pick<GateSettings<FrameworkArgs>, 'trustProxy'>): boolean | undefined {
  return trustProxy === undefined ? undefined : trustProxy !== false && trustProxy !== 'none'
}

function proxiesOf<N extends FrameworkArgs>({ trustProxy, proxyHeader }: GateSettings<N>): Proxies {
  const header = proxyHeader ?? 'x-forwarded-for'
  if (trustProxy === undefined || !trustsProxies({ trustProxy })) return { header }
  if (typeof trustProxy === 'number') return { header, hops: trustProxy }
  return {
    header,
    trusted: listOfProxies(trustProxy as string | readonly string[]),
  }
}
