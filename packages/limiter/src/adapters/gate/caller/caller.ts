import { ConfigError } from '../../../core/errors.ts'
import { clientAddress, type Proxies } from '../../../core/identify/forwarded.ts'
import { ipKey } from '../../../core/identify/ip.ts'
import { checkOptions } from '../../../core/options.ts'
import { andThen, type MaybePromise, maybePromise } from '../../../maybe-promise.ts'
import { memoized } from '../../../memoize.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import { ipv6SubnetCheck } from '../options/fields.ts'
import type { GateSettings } from '../options/settings.ts'
import { type Caller, type FindCaller, fieldsOf, keylessCaller, keyReader, NO_KEY } from './caller-key.ts'
import { keyParts } from './key-parts.ts'
import { proxyNetworks } from './proxy-names.ts'
import { wholeAddressWarning } from './whole-address-warning.ts'

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
  const missing = keylessCaller(onMissingKey)
  const read = keyReader(fields, missing)
  const ownKey = keySource(key, settings, fields)
  const watch = typeof key === 'function' ? wholeAddressWarning(settings) : undefined
  const identified = (incoming: IncomingRequest<N>, here: Caller | undefined): MaybePromise<Caller> => {
    if (rules !== undefined) return { address: here?.address, ...NO_KEY }
    if (key === undefined) return here ?? missing(undefined)
    return andThen(ownKey!(incoming, here), (own) => {
      const caller = read(own, here)
      watch?.(caller.key)
      return caller
    })
  }
  if (ask === undefined) return (incoming) => identified(incoming, located(incoming.peer, incoming))
  return (incoming) =>
    andThen(maybePromise(ask(...incoming.args)), (peer) =>
      identified(incoming, located(peer ?? undefined, incoming)),
    )
}

/** How the option `key` is read for a request; `undefined` where there is none. */
function keySource<N extends FrameworkArgs>(
  key: GateSettings<N>['key'],
  settings: GateSettings<N>,
  fields: readonly string[],
): ((incoming: IncomingRequest<N>, here: Caller | undefined) => MaybePromise<unknown>) | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'function') return ({ args }, here) => maybePromise<unknown>(key(...args, here?.address))
  if (key.length === 0) throw new ConfigError('key must list one part at least', { path: ['key'] })
  if (fields.length > 0)
    throw new ConfigError(
      `policies name ${fields.join(', ')}: give key as a function that gives an object with them, not a list`,
      { path: ['key'] },
    )
  return keyParts(key, settings)
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
    trusted: proxyNetworks(trustProxy as string | readonly string[]),
  }
}
