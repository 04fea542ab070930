import { describe, expect, it } from 'vitest'
import { fakeIo } from '../testing.ts'
import { deadlineWarning } from './deadline-warning.ts'
import { KNOWN, variables } from './envoy-variables.ts'
import { SERVE_OPTIONS } from './options.ts'
import { readSettings } from './settings.ts'

interface Read {
  // biome-ignore lint/suspicious/noExplicitAny: settings of every shape
  readonly settings: any
  readonly err: string
}

async function settingsOf(env: Record<string, string>, flags: object = {}): Promise<Read> {
  const { io, err } = fakeIo('', { ...env, SLUICE_ENVOY_RATELIMIT: 'true' })
  const { settings } = await readSettings(SERVE_OPTIONS, [], { ...flags }, io)
  return { settings, err: err() }
}

describe('the variables of envoyproxy/ratelimit', () => {
  it('are what they are by default there, but for the address without a password', async () => {
    const { settings, err } = await settingsOf({})
    expect(settings).toMatchObject({
      rules: ['/srv/runtime_data/current/config'],
      http: '0.0.0.0:8080',
      grpc: '0.0.0.0:8081',
      admin: '127.0.0.1:6070',
      storeUrl: 'memory',
      rls: { deadlineMs: 15, nearLimitRatio: 0.8, shadow: false, quota: false },
    })
    expect(err).toBe('')
  })

  it('of a usual deployment are understood', async () => {
    const { settings, err } = await settingsOf({
      RUNTIME_ROOT: '/data',
      RUNTIME_SUBDIRECTORY: 'ratelimit',
      RUNTIME_WATCH_ROOT: 'false',
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_URL: 'redis:6379',
      REDIS_AUTH: 'ada:a b',
      LOG_LEVEL: 'debug',
      USE_STATSD: 'false',
      USE_PROMETHEUS: 'true',
      RESPONSE_DYNAMIC_METADATA: 'true',
      SHADOW_MODE: '1',
      NEAR_LIMIT_RATIO: '0.7',
      LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
      LIMIT_RESET_HEADER: 'X-Reset',
      DEBUG_PORT: '6071',
      GRPC_PORT: '9081',
      GRPC_MAX_CONNECTION_AGE: '1h30m',
    })
    expect(settings).toMatchObject({
      rules: ['/data/ratelimit/config'],
      storeUrl: 'redis://ada:a%20b@redis:6379',
      logLevel: 'debug',
      grpc: '0.0.0.0:9081',
      admin: '127.0.0.1:6071',
      rls: {
        dynamicMetadata: true,
        shadow: true,
        nearLimitRatio: 0.7,
        maxConnectionAgeMs: 5_400_000,
        limitHeaders: { limit: 'RateLimit-Limit', remaining: 'RateLimit-Remaining', reset: 'X-Reset' },
      },
    })
    expect(err).toBe('')
  })

  it.each([
    [
      { REDIS_TYPE: 'CLUSTER', REDIS_SOCKET_TYPE: 'tcp', REDIS_URL: 'a:1,b:2', REDIS_AUTH: 'p' },
      'redis+cluster://:p@a:1,b:2',
    ],
    [
      { REDIS_TYPE: 'SENTINEL', REDIS_SOCKET_TYPE: 'tls', REDIS_URL: 'mymaster,a:1,b:2' },
      'rediss+sentinel://a:1,b:2/mymaster',
    ],
    [{ REDIS_TLS: 'true', REDIS_SOCKET_TYPE: 'tcp', REDIS_URL: 'a:1' }, 'rediss://a:1'],
  ])('%j are a store', async (env, url) => {
    expect((await settingsOf(env)).settings.storeUrl).toBe(url)
  })

  it('of a socket and of TLS are those of gRPC', async () => {
    const { settings } = await settingsOf({
      GRPC_UDS: '/run/ratelimit.sock',
      GRPC_SERVER_USE_TLS: 'true',
      GRPC_SERVER_TLS_CERT: '/c',
      GRPC_SERVER_TLS_KEY: '/k',
      GRPC_CLIENT_TLS_CACERT: '/ca',
      GRPC_CLIENT_TLS_SAN: 'envoy',
    })
    expect(settings).toMatchObject({
      grpc: 'unix:/run/ratelimit.sock',
      grpcTls: { cert: '/c', key: '/k', clientCa: '/ca', clientName: 'envoy' },
    })
  })

  it('of xDS are those of the server that sends the rules', async () => {
    const { settings } = await settingsOf({
      CONFIG_TYPE: 'GRPC_XDS_SOTW',
      CONFIG_GRPC_XDS_SERVER_URL: 'envoy-gateway:18001',
      CONFIG_GRPC_XDS_NODE_ID: 'ratelimit-1',
      CONFIG_GRPC_XDS_NODE_METADATA: 'zone=a,role=edge',
      CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: 'x-a:1',
      CONFIG_GRPC_XDS_SERVER_USE_TLS: 'true',
      CONFIG_GRPC_XDS_CLIENT_TLS_CERT: '/certs/tls.crt',
      CONFIG_GRPC_XDS_CLIENT_TLS_KEY: '/certs/tls.key',
      CONFIG_GRPC_XDS_SERVER_TLS_CACERT: '/certs/ca.crt',
      CONFIG_GRPC_XDS_SERVER_TLS_SAN: 'envoy-gateway',
    })
    expect(settings.xds).toEqual({
      server: 'envoy-gateway:18001',
      node: 'ratelimit-1',
      metadata: { zone: 'a', role: 'edge' },
      headers: { 'x-a': '1' },
      ca: '/certs/ca.crt',
      cert: '/certs/tls.crt',
      key: '/certs/tls.key',
      serverName: 'envoy-gateway',
    })
  })

  it('count less than flags and SLUICE_ variables, and not at all without being asked for', async () => {
    const { settings } = await settingsOf(
      { PORT: '1', GRPC_PORT: '2', SLUICE_HTTP: '127.0.0.1:3' },
      { grpc: '127.0.0.1:4' },
    )
    expect([settings.http, settings.grpc]).toEqual(['127.0.0.1:3', '127.0.0.1:4'])
    const { io } = fakeIo('', { PORT: '1', REDIS_URL: 'a:1' })
    expect((await readSettings(SERVE_OPTIONS, [], {}, io)).settings).toMatchObject({
      http: '127.0.0.1:8080',
      storeUrl: 'memory',
    })
  })

  it.each([
    [{ USE_STATSD: 'true' }, 'USE_STATSD is not supported: metrics are at /metrics'],
    [
      { BACKEND_TYPE: 'memcache' },
      'BACKEND_TYPE is not supported: counters are kept in memory or in a Redis',
    ],
    [{ REDIS_PERSECOND: 'true' }, 'REDIS_PERSECOND is not supported'],
    [{ CACHE_KEY_PREFIX: 'a' }, 'CACHE_KEY_PREFIX is not supported: give each service a database of its own'],
    [{ SHADOW_MODE: 'yes' }, 'SHADOW_MODE must be true or false, not "yes"'],
    [
      { GRPC_MAX_CONNECTION_AGE: '1 hour' },
      'GRPC_MAX_CONNECTION_AGE must be a duration such as 24h, not "1 hour"',
    ],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
    [{ REDIS_URL: '/var/run/redis.sock' }, 'REDIS_SOCKET_TYPE unix is not supported'],
    [{ REDIS_URLL: 'a:1' }, 'REDIS_URLL is no variable of envoyproxy/ratelimit: did you mean REDIS_URL?'],
    [{ NEAR_LIMIT_RATIO: 'most' }, 'NEAR_LIMIT_RATIO must be a number, not "most"'],
  ])('%j is an error that names the variable', async (env, message) => {
    await expect(settingsOf(env)).rejects.toThrow(message)
  })

  it('that have no effect here are told', async () => {
    const { err } = await settingsOf({
      REDIS_POOL_SIZE: '10',
      STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'false',
    })
    expect(err).toBe(
      'sluice: REDIS_POOL_SIZE has no effect: one connection is enough, commands go in batches\n' +
        'sluice: STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT has no effect: a request that is refused charges nothing, ever\n',
    )
  })

  it('are all known, and what Kubernetes sets is none of them', async () => {
    expect(KNOWN.length).toBeGreaterThan(100)
    expect(new Set(KNOWN).size).toBe(variables.size)
    await expect(
      settingsOf({ REDIS_SERVICE_HOST: 'a', REDIS_PORT_6379_TCP: 'b', REDIS_PORT: 'tcp://c' }),
    ).resolves.toBeDefined()
  })
})

describe('deadlines that do not fit', () => {
  it.each([
    [{ grpc: ':1', rls: { deadlineMs: 15 } }, undefined],
    [{ grpc: ':1', rls: { deadlineMs: 16 } }, 'a grpc-deadline of 16 ms is too long for Envoy'],
    [
      { grpc: ':1', rls: { deadlineMs: 15 }, fallback: { deadlineMs: 10 } },
      'has no effect: a store that does not answer within 10 ms',
    ],
    [{ rls: { deadlineMs: 16 } }, undefined],
  ])('%j', (settings, message) => {
    const warning = deadlineWarning(settings)
    if (message === undefined) expect(warning).toBeUndefined()
    else expect(warning).toContain(message)
  })
})
