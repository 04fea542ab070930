import { ConfigError } from '../../core/errors.ts'
import { clientAddress, type Proxies } from '../../core/identify/forwarded.ts'
import { ipKey } from '../../core/identify/ip.ts'
import type { Key } from '../../limiter.ts'
import type { Arrival, Native } from './arrival.ts'
import { oneOf, type Settings } from './settings.ts'
import { type Soon, soon } from './soon.ts'

/** Whose quota a request meets. */
export interface Caller {
  readonly key: Key
  /** The key as lists name it, and as the application is shown it. */
  readonly shown: string
}

export interface Whose<N extends Native> {
  address(arrival: Arrival<N>): Soon<string | undefined>
  /** `skip`, `deny`: what becomes of a request that lacks a key. */
  caller(arrival: Arrival<N>, address: string | undefined): Soon<Caller | 'skip' | 'deny'>
}

/** All who lack a key, where they share one. Lists of parts never meet a text. */
const ANYONE: Caller = { key: ['anyone'], shown: '' }

/** @throws ConfigError for proxies or prefixes that mean nothing */
export function whoseOf<N extends Native>(settings: Settings<N>): Whose<N> {
  const { key, address: ask, onMissingKey = 'address', proxyHeader = 'x-forwarded-for' } = settings
  const { ipv4Subnet = 32, ipv6Subnet = 64 } = settings
  oneOf('onMissingKey', onMissingKey, ['address', 'skip', 'share', 'deny'])
  bits('ipv4Subnet', ipv4Subnet, 8, 32)
  bits('ipv6Subnet', ipv6Subnet, 32, 128)
  const trusts = trustsProxies(settings)
  const find = clientAddress(proxiesOf(settings))

  const missing = (address: string | undefined): Caller | 'skip' | 'deny' => {
    if (onMissingKey === 'share') return ANYONE
    if (onMissingKey !== 'address') return onMissingKey
    const own = address && ipKey(address, ipv4Subnet, ipv6Subnet)
    if (own) return { key: ['address', own], shown: own }
    throw new ConfigError('a request has neither key nor client address: set key, address or onMissingKey')
  }
  return {
    address(arrival) {
      const forwarded = trusts ? arrival.headers[proxyHeader] : undefined // where nobody reads them, headers are not made
      if (ask === undefined) return find(arrival.peer, forwarded)
      return soon(ask(...arrival.native), (own) => find(own, forwarded))
    },
    caller({ native }, address) {
      if (key !== undefined) return soon(key(...native), (given) => callerOf(given) ?? missing(address))
      const own = address && ipKey(address, ipv4Subnet, ipv6Subnet)
      return own ? { key: own, shown: own } : missing(undefined)
    },
  }
}

/** @throws ConfigError for what is neither a key nor the lack of one */
export function callerOf(given: Key | number | null | undefined): Caller | undefined {
  if (given === undefined || given === null || given === '') return undefined
  if (typeof given === 'string') return { key: given, shown: given }
  if (typeof given === 'number' && Number.isFinite(given)) return { key: `${given}`, shown: `${given}` }
  if (Array.isArray(given) && given.length > 0 && given.every((part) => typeof part === 'string')) {
    return { key: given, shown: given.join(' ') }
  }
  throw new ConfigError(`a key must be text, a number, or a list of texts, not ${typeof given}`)
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
