import { ConfigError } from '../../core/errors.ts'
import { clientAddress, type Proxies } from '../../core/identify/forwarded.ts'
import { ipKey } from '../../core/identify/ip.ts'
import type { Key } from '../../limiter.ts'
import type { Arrival, Native } from './arrival.ts'
import { remembered } from './remembered.ts'
import { oneOf, type Settings } from './settings.ts'
import { given, type Soon, soon } from './soon.ts'

/** Whom a request is by, and whose quota it meets. */
export interface Caller {
  readonly address: string | undefined
  readonly key: Key
  /** The key as lists name it, and as the application is shown it. */
  readonly shown: string | undefined
  /** What becomes of a request that lacks a key. */
  readonly keyless?: 'skip' | 'deny'
}

/** All who lack a key, where they share one. Lists of parts never meet a text. */
const ANYONE = { key: ['anyone'], shown: '' }
/** A rulebook works out for itself whose quota it is. */
const RULED = { key: '', shown: undefined }

/** @throws ConfigError for proxies or prefixes that mean nothing */
export function whoseOf<N extends Native>(settings: Settings<N>): (arrival: Arrival<N>) => Soon<Caller> {
  const { key, address: ask, onMissingKey = 'address', proxyHeader = 'x-forwarded-for', rules } = settings
  const { ipv4Subnet = 32, ipv6Subnet = 64 } = settings
  oneOf('onMissingKey', onMissingKey, ['address', 'skip', 'share', 'deny'])
  bits('ipv4Subnet', ipv4Subnet, 8, 32)
  bits('ipv6Subnet', ipv6Subnet, 32, 128)
  const trusts = trustsProxies(settings)
  const find = clientAddress(proxiesOf(settings))
  const callerAt = remembered((text): Caller | undefined => {
    const address = find(text, undefined)
    const own = address && ipKey(address, ipv4Subnet, ipv6Subnet)
    return own ? { address, key: own, shown: own } : undefined
  })

  const at = (peer: string | undefined, { headers }: Arrival<N>): Caller | undefined => {
    const address = find(peer, headers[proxyHeader])
    return address === undefined ? undefined : callerAt(address)
  }
  const located = (peer: string | undefined, arrival: Arrival<N>): Caller | undefined => {
    if (trusts) return at(peer, arrival)
    // Where nobody reads headers, they are not made.
    return peer === undefined ? undefined : callerAt(peer)
  }
  const missing = (here: Caller | undefined): Caller => {
    const address = here?.address
    if (onMissingKey === 'share') return { address, ...ANYONE }
    if (onMissingKey !== 'address') return { address, ...RULED, keyless: onMissingKey }
    if (here !== undefined) return { address, key: ['address', here.shown!], shown: here.shown }
    throw new ConfigError('a request has neither key nor client address: set key, address or onMissingKey')
  }
  const identified = (arrival: Arrival<N>, here: Caller | undefined): Soon<Caller> => {
    if (rules !== undefined) return { address: here?.address, ...RULED }
    if (key === undefined) return here ?? missing(undefined)
    return soon(given(key(...arrival.native)), (own) => callerOf(own, here?.address) ?? missing(here))
  }
  if (ask === undefined) return (arrival) => identified(arrival, located(arrival.peer, arrival))
  return (arrival) =>
    soon(given(ask(...arrival.native)), (peer) => identified(arrival, located(peer ?? undefined, arrival)))
}

/** @throws ConfigError for what is neither a key nor the lack of one */
function callerOf(own: Key | number | null | undefined, address: string | undefined): Caller | undefined {
  if (own === undefined || own === null || own === '') return undefined
  if (typeof own === 'string') return { address, key: own, shown: own }
  if (typeof own === 'number' && Number.isFinite(own)) return { address, key: `${own}`, shown: `${own}` }
  if (Array.isArray(own) && own.length > 0 && own.every((part) => typeof part === 'string')) {
    return { address, key: own, shown: own.join(' ') }
  }
  throw new ConfigError(`a key must be text, a number, or a list of texts, not ${typeof own}`)
}

/** Whether any proxy is believed; `undefined`: nobody has said. */
export function trustsProxies({ trustProxy }: Pick<Settings<Native>, 'trustProxy'>): boolean | undefined {
  return trustProxy === undefined ? undefined : trustProxy !== false && trustProxy !== 'none'
}

function proxiesOf<N extends Native>({ trustProxy, proxyHeader }: Settings<N>): Proxies {
  const header = oneOf('proxyHeader', proxyHeader ?? 'x-forwarded-for', ['x-forwarded-for', 'forwarded'])
  if (trustProxy === undefined || !trustsProxies({ trustProxy })) return { header }
  if (typeof trustProxy === 'number') return { header, hops: trustProxy }
  if (typeof trustProxy === 'boolean') {
    throw new ConfigError(
      'trustProxy: true would believe any caller; give the number of proxies, or their CIDRs',
    )
  }
  return {
    header,
    trusted: typeof trustProxy === 'string' ? trustProxy.split(',').map((one) => one.trim()) : trustProxy,
  }
}

function bits(name: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not ${value}`)
}
