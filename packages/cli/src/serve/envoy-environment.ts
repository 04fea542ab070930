import { join } from 'node:path'
import { nearest } from '@sluice/limiter/errors'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'
import { redisUrlOf } from './envoy-redis.ts'
import { KNOWN, variables } from './envoy-variables.ts'
import type { Given, GivenText } from './sources.ts'

/**
 * The settings of `sluice serve` by what envoyproxy/ratelimit's variables say, each under the name of its variable. What
 * has no effect here is told; what would change a decision and is not understood is an error.
 * @throws UsageError naming the variable
 */
export function givenByEnvoyRatelimit({ env, stderr }: Pick<Io, 'env' | 'stderr'>): Given {
  const set = new Map(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  )
  refuseMisspelt(set)
  const given = new Map<string, GivenText[]>()
  for (const [name, value] of set) {
    const variable = variables.get(name)
    if (variable === undefined) continue
    const found = variable(value, name)
    if ('note' in found) stderr.write(`sluice: ${name} has no effect: ${found.note}\n`)
    if ('settings' in found) {
      for (const [setting, text] of Object.entries(found.settings)) given.set(setting, [{ text, from: name }])
    }
  }
  const of = (name: string, standard: string): string => set.get(name) ?? standard
  const put = (setting: string, text: string, ...from: string[]): void =>
    void given.set(setting, [{ text, from: from.find((name) => set.has(name)) ?? from[0]! }])
  put(
    'rules',
    join(
      of('RUNTIME_ROOT', '/srv/runtime_data/current'),
      of('RUNTIME_SUBDIRECTORY', ''),
      of('RUNTIME_APPDIRECTORY', 'config'),
    ),
    'RUNTIME_ROOT',
    'RUNTIME_SUBDIRECTORY',
    'RUNTIME_APPDIRECTORY',
  )
  put('http', hostAndPort(of('HOST', '0.0.0.0'), of('PORT', '8080')), 'PORT', 'HOST')
  if (set.get('CONFIG_TYPE')?.toUpperCase() === 'GRPC_XDS_SOTW') {
    given.delete('rules')
    for (const [setting, texts] of xdsSettings(set)) given.set(setting, texts)
  }
  const socket = set.get('GRPC_UDS')
  put(
    'grpc',
    socket === undefined
      ? hostAndPort(of('GRPC_HOST', '0.0.0.0'), of('GRPC_PORT', '8081'))
      : `unix:${socket}`,
    socket === undefined ? 'GRPC_PORT' : 'GRPC_UDS',
    'GRPC_HOST',
  )
  if (set.has('DEBUG_HOST') || set.has('DEBUG_PORT'))
    put(
      'admin',
      hostAndPort(of('DEBUG_HOST', '127.0.0.1'), of('DEBUG_PORT', '6070')),
      'DEBUG_PORT',
      'DEBUG_HOST',
    )
  if (set.has('DEBUG_HOST')) put('admin-open', 'true', 'DEBUG_HOST') // as its debug port is there
  if (set.has('REDIS_URL')) put('store', redisUrlOf(set), 'REDIS_URL')
  if (isTrue(set, 'LIMIT_RESPONSE_HEADERS_ENABLED')) {
    const names = [
      ['LIMIT_LIMIT_HEADER', 'RateLimit-Limit'],
      ['LIMIT_REMAINING_HEADER', 'RateLimit-Remaining'],
      ['LIMIT_RESET_HEADER', 'RateLimit-Reset'],
    ] as const
    given.set(
      'limit-headers',
      names.map(([name, standard]) => ({ text: of(name, standard), from: name })),
    )
  }
  if (isTrue(set, 'GRPC_SERVER_USE_TLS')) {
    for (const [setting, name] of TLS) if (set.has(name)) put(setting, set.get(name)!, name)
  }
  return (name) => given.get(name)
}

const TLS = [
  ['grpc-cert', 'GRPC_SERVER_TLS_CERT'],
  ['grpc-key', 'GRPC_SERVER_TLS_KEY'],
  ['grpc-client-ca', 'GRPC_CLIENT_TLS_CACERT'],
  ['grpc-client-name', 'GRPC_CLIENT_TLS_SAN'],
] as const

/** Where the rules are sent from. */
function xdsSettings(set: ReadonlyMap<string, string>): [string, GivenText[]][] {
  const named = (setting: string, name: string, standard?: string): [string, GivenText[]][] => {
    const text = set.get(name) ?? standard
    return text === undefined ? [] : [[setting, [{ text, from: name }]]]
  }
  const listed = (setting: string, name: string): [string, GivenText[]][] => {
    const texts = set.get(name)?.split(',') ?? []
    return texts.length === 0
      ? []
      : [[setting, texts.map((text) => ({ text: text.replace(/^(\s*[\w-]+):/, '$1='), from: name }))]]
  }
  const tls = isTrue(set, 'CONFIG_GRPC_XDS_SERVER_USE_TLS')
  return [
    ...named('xds', 'CONFIG_GRPC_XDS_SERVER_URL', 'localhost:18000'),
    ...named('xds-node', 'CONFIG_GRPC_XDS_NODE_ID'),
    ...listed('xds-metadata', 'CONFIG_GRPC_XDS_NODE_METADATA'),
    ...listed('xds-header', 'CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS'),
    ...(tls ? XDS_TLS.flatMap(([setting, name]) => named(setting, name)) : []),
  ]
}

const XDS_TLS = [
  ['xds-ca', 'CONFIG_GRPC_XDS_SERVER_TLS_CACERT'],
  ['xds-cert', 'CONFIG_GRPC_XDS_CLIENT_TLS_CERT'],
  ['xds-key', 'CONFIG_GRPC_XDS_CLIENT_TLS_KEY'],
  ['xds-name', 'CONFIG_GRPC_XDS_SERVER_TLS_SAN'],
] as const

function isTrue(set: ReadonlyMap<string, string>, name: string): boolean {
  return /^(?:1|t|true)$/i.test(set.get(name) ?? '')
}

function hostAndPort(host: string, port: string): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
}

/** What only envoyproxy/ratelimit's variables begin with, and what others set under the same beginnings. */
const BEGINNINGS =
  /^(?:REDIS|MEMCACHE|RUNTIME|LIMIT|STATSD|PROMETHEUS|GRPC_(?:SERVER|CLIENT|MAX|UDS)|CONFIG_GRPC|XDS_CLIENT|EXPIRATION_JITTER|LOCAL_CACHE|NEAR_LIMIT|STOP_CACHE|RESPONSE_DYNAMIC)_/
const OF_KUBERNETES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_\d+_.+)?)$/

/** A misspelt variable would be a limit's store, or the limits themselves, that silently are others. */
function refuseMisspelt(set: ReadonlyMap<string, string>): void {
  for (const name of set.keys()) {
    if (KNOWN.includes(name) || !BEGINNINGS.test(name) || OF_KUBERNETES.test(name)) continue
    const meant = nearest(name, KNOWN)
    if (meant !== undefined)
      throw new UsageError(`${name} is no variable of envoyproxy/ratelimit: did you mean ${meant}?`)
  }
}
