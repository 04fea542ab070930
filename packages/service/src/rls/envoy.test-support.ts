import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../limiter/src/free-port.test-support.ts'

const ENVOY = join(import.meta.dirname, '../../../../node_modules/.cache/programs/envoy')

/** An application that says what reached it. */
export interface Application {
  readonly port: number
  close(): Promise<void>
}

/** @param headers of every answer */
export async function application(
  name: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Application> {
  const server: Server = createServer((received, response) => {
    received.resume()
    const asked = received.headers['x-answer']
    const own = typeof asked === 'string' ? { 'x-tokens': asked } : undefined
    response.writeHead(200, { 'content-type': 'application/json', ...headers, ...own })
    response.end(JSON.stringify({ name, headers: received.headers }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A real Envoy. */
export interface Envoy {
  readonly port: number
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Received>
  /** A counter or gauge of its own; 0 where there is none. */
  stat(name: string): Promise<number>
  stop(): Promise<void>
}

/** Ports for a configuration: of the listener, and of the admin interface. */
export interface EnvoyPorts {
  readonly listener: number
  readonly admin: number
}

/**
 * Starts Envoy by a configuration in YAML or JSON, and waits until it is ready.
 * @param args such as `--service-cluster proxy`
 */
export async function startEnvoy(
  configuration: (ports: EnvoyPorts) => string | object,
  ...args: string[]
): Promise<Envoy> {
  if (!existsSync(ENVOY)) throw new Error('Envoy is not there: run `node scripts/setup-tests.mjs` first')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-'))
  const ports = { listener: await freePort(), admin: await freePort() }
  const written = configuration(ports)
  const file = join(folder, 'envoy.yaml')
  writeFileSync(file, typeof written === 'string' ? written : JSON.stringify(written))
  const options = [
    '-c',
    file,
    '--use-dynamic-base-id',
    '--concurrency',
    '1',
    '-l',
    'error',
    '--drain-time-s',
    '1',
  ]
  const child: ChildProcess = spawn(ENVOY, [...options, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log = `${log}${text}`.slice(-4_000)
  })
  let ended = false
  const exit = new Promise<void>((resolve) => {
    child.once('exit', () => {
      ended = true
      resolve()
    })
  })
  const stop = async (): Promise<void> => {
    if (!ended) child.kill('SIGKILL')
    await exit
    rmSync(folder, { recursive: true, force: true })
  }
  for (;;) {
    const ready = await ask(ports.admin, '/ready').catch(() => undefined)
    if (ready?.status === 200) break
    if (ended) throw new Error(`Envoy did not start: ${log}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    port: ports.listener,
    get: (path, headers = {}) => ask(ports.listener, path, headers),
    async stat(name) {
      const { body } = await ask(ports.admin, `/stats?filter=${encodeURIComponent(`^${name}$`)}`)
      return Number(/: (\d+)/.exec(body)?.[1] ?? 0)
    },
    stop,
  }
}

function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

const TYPE = 'type.googleapis.com/envoy.extensions'

/** What a configuration made here has. */
export interface EdgeOptions {
  readonly domain: string
  /** Where the rate limit service listens. */
  readonly grpcPort: number
  /** Clusters by name: ports. */
  readonly applications: Readonly<Record<string, number>>
  readonly routes: readonly object[]
  /** Of the rate limit filter. */
  readonly filter?: object
  /** Between the rate limit filter and the router. */
  readonly filters?: readonly object[]
  /** Of the cluster of the rate limit service. */
  readonly transport?: object
}

/** A configuration with one listener that asks the rate limit service. */
export function edge(options: EdgeOptions): (ports: EnvoyPorts) => object {
  const { domain, grpcPort, applications, routes, filter, filters = [], transport } = options
  return ({ listener, admin }) => ({
    admin: { address: address(admin) },
    static_resources: {
      listeners: [
        {
          address: address(listener),
          filter_chains: [
            {
              filters: [
                {
                  name: 'http',
                  typed_config: {
                    '@type': `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
                    stat_prefix: 'edge',
                    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
                    http_filters: [
                      {
                        name: 'envoy.filters.http.ratelimit',
                        typed_config: {
                          '@type': `${TYPE}.filters.http.ratelimit.v3.RateLimit`,
                          domain,
                          rate_limit_service: {
                            transport_api_version: 'V3',
                            grpc_service: { envoy_grpc: { cluster_name: 'ratelimit' } },
                          },
                          ...filter,
                        },
                      },
                      ...filters,
                      { name: 'router', typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` } },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
      clusters: [
        ...Object.entries(applications).map(([name, port]) => cluster(name, port)),
        { ...cluster('ratelimit', grpcPort), ...HTTP2, ...transport },
      ],
    },
  })
}

/** For a cluster that speaks HTTP/2 alone. */
const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
}

function cluster(name: string, port: number): object {
  return {
    name,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
  }
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } }
}

/** A route whose descriptors are made of headers: a list of their names for each descriptor. */
export function byHeaders(prefix: string, ...descriptors: readonly (readonly string[])[]): object {
  return {
    match: { prefix },
    route: {
      cluster: 'app',
      rate_limits: descriptors.map((headers) => ({
        actions: headers.map((name) => ({ request_headers: { header_name: name, descriptor_key: name } })),
      })),
    },
  }
}

/** A route with settings of the rate limit filter's own, where `hits_addend` acts. */
export function perRoute(prefix: string, cluster: string, ...rate_limits: readonly object[]): object {
  return {
    match: { prefix },
    route: { cluster },
    typed_per_filter_config: {
      'envoy.filters.http.ratelimit': {
        '@type': `${TYPE}.filters.http.ratelimit.v3.RateLimitPerRoute`,
        rate_limits,
      },
    },
  }
}

/** A descriptor that is the same for all requests. */
export function generic(descriptor_key: string, descriptor_value: string, more: object = {}): object {
  return { actions: [{ generic_key: { descriptor_key, descriptor_value } }], ...more }
}
