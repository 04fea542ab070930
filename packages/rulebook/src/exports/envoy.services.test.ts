import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../../limiter/src/free-port.test-support.ts'
import {
  agreement,
  ask,
  exported,
  inFolder,
  oneConnection,
  run,
  running,
  served,
  servedAtOnce,
  upstream,
} from './proxies.test-support.ts'

const OF = 'type.googleapis.com/envoy.extensions.filters'

/** Envoy with the exported limits in front of an application: checked with the filter in place, run with it in its file. */
function behindEnvoy<T>(
  rulebook: string,
  body: (port: number) => Promise<T>,
  manager: object = {},
): Promise<T> {
  return upstream(0, async (app) => {
    const port = await freePort()
    const { text, notes } = exported('envoy', rulebook, { keys: 1_000 })
    expect(notes).toEqual([])
    const [{ name, typed_config }] = parse(text).resources
    return inFolder({ 'sluice.yaml': text }, async (folder) => {
      const inPlace = JSON.stringify(bootstrap(port, app, { name, typed_config }, manager))
      expect(await run('envoy', ['--mode', 'validate', '--config-yaml', inPlace])).toMatchObject({ code: 0 })
      const discovered = {
        name: 'sluice',
        config_discovery: {
          config_source: {
            path_config_source: { path: `${folder}/sluice.yaml` },
            resource_api_version: 'V3',
          },
          type_urls: [`${OF}.http.local_ratelimit.v3.LocalRateLimit`],
        },
      }
      const config = JSON.stringify(bootstrap(port, app, discovered, manager))
      const args = ['--config-yaml', config, '--use-dynamic-base-id', '--concurrency', '2', '-l', 'error']
      return running('envoy', args, port, () => body(port))
    })
  })
}

function bootstrap(port: number, app: number, filter: object, manager: object): object {
  const address = (port_value: number) => ({ socket_address: { address: '127.0.0.1', port_value } })
  return {
    node: { id: 'one', cluster: 'edge' },
    static_resources: {
      listeners: [
        {
          address: address(port),
          filter_chains: [
            {
              filters: [
                {
                  name: 'envoy.filters.network.http_connection_manager',
                  typed_config: {
                    '@type': `${OF}.network.http_connection_manager.v3.HttpConnectionManager`,
                    stat_prefix: 'ingress',
                    use_remote_address: true,
                    ...manager,
                    route_config: {
                      virtual_hosts: [
                        {
                          name: 'all',
                          domains: ['*'],
                          routes: [{ match: { prefix: '/' }, route: { cluster: 'app' } }],
                        },
                      ],
                    },
                    http_filters: [
                      filter,
                      {
                        name: 'envoy.filters.http.router',
                        typed_config: { '@type': `${OF}.http.router.v3.Router` },
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
      clusters: [
        {
          name: 'app',
          connect_timeout: '1s',
          load_assignment: {
            cluster_name: 'app',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(app) } }] }],
          },
        },
      ],
    },
  }
}

const RULE = 'domain: shop\nlimits:\n  - { name: api, key: [ip], limit: 20/minute, burst: 20 }\n'

describe('Envoy', () => {
  test('acceptance 2.4: of 40 at once exactly 20 are served, and none of another address is refused', () =>
    behindEnvoy(RULE, async (port) => {
      expect(await servedAtOnce(port, 40, { from: '127.0.0.2' })).toBe(20)
      expect(await served(port, 5, { from: '127.0.0.3' })).toBe(5)
    }))

  test('acceptance 2.4: of 300 calls at least 99 % are decided as ours', () =>
    behindEnvoy(RULE.replace('20/minute', '2/second').replace('20 }', '5 }'), async (port) => {
      const agent = oneConnection()
      const policy = { algorithm: 'token-bucket', limit: 2, period: 1_000, burst: 5 } as const
      const batches = Array.from({ length: 15 }, (_, i) => [20, (i * 7) % 5] as const)
      const call = async () => (await ask(port, { from: '127.0.0.2', agent })) === 200
      const { calls, alike, admitted } = await agreement(policy, batches, call)
      agent.destroy()
      expect(calls).toBe(300)
      expect(admitted).toBeGreaterThan(30)
      expect(alike).toBeGreaterThanOrEqual(297)
    }))

  test('a request that no condition leaves out is counted, in every spelling; all others are not', () =>
    behindEnvoy(
      `domain: shop
limits:
  - name: "log: in\\"}]} # \\\\"
    when: { method: POST, path: [/login, "/api/:v/long-name-of-a-resource(1)/find*"], host: ["*.example.com"], header: { x-client: ["a'b\\"$x;{ #", "c|d", e] } }
    key: ["header:x-user", method]
    limit: 3/hour
  - { name: longest, when: { path: /${'sk'.repeat(39)} }, key: [ip], limit: 1/hour }
  - { name: longest of signs, when: { path: "/${'a('.repeat(7)}*" }, key: [ip], limit: 1/hour }
`,
      async (port) => {
        const headers = { host: 'WWW.example.com:80', 'x-client': 'a\'b"$x;{ #', 'x-user': 'ada' }
        const spellings = [
          '/login',
          '/Login/',
          '//login?x',
          '/./login',
          '/x/%2E./l%6Fgin',
          '/api/9/long-name-of-a-resource%281)/FINDings?x=1',
        ]
        expect(await served(port, 6, (i) => ({ method: 'POST', path: spellings[i]!, headers }))).toBe(3)
        const others = [
          { method: 'GET', headers },
          { path: '/logins', headers },
          { path: '/api/9/8/find', headers },
          { path: '/?x=/login', headers },
          { headers: { ...headers, host: 'www.example.org' } },
          { headers: { ...headers, 'x-client': 'c' } },
          { headers: { host: headers.host, 'x-client': headers['x-client'] } },
        ]
        expect(
          await served(port, others.length, (i) => ({ method: 'POST', path: '/login', ...others[i] })),
        ).toBe(others.length)
        expect(
          await served(port, 4, { method: 'POST', path: '/login', headers: { ...headers, 'x-user': 'bob' } }),
        ).toBe(3)
      },
    ))

  test('FB-059: addresses of one /64 share a count', () =>
    behindEnvoy(
      RULE.replace('20/minute, burst: 20', '3/minute'),
      async (port) => {
        const as = (address: (i: number) => string) => (i: number) => ({
          headers: { 'x-forwarded-for': address(i) },
        })
        expect(
          await served(
            port,
            8,
            as((i) => `2001:db8:0:1::${i}`),
          ),
        ).toBe(3)
        expect(
          await served(
            port,
            8,
            as((i) => `2001:db8:0:2:${i}::1`),
          ),
        ).toBe(3)
        expect(
          await served(
            port,
            8,
            as((i) => `192.0.2.${1 + i}`),
          ),
        ).toBe(8)
      },
      { xff_num_trusted_hops: 1 },
    ))

  test('FB-061: forged X-Forwarded-For headers do not make other clients; all of [] are one', () =>
    behindEnvoy(
      RULE.replace('20/minute, burst: 20', '5/minute').concat(
        '  - { name: all, when: { path: /all }, key: [], limit: 2/minute }\n',
      ),
      async (port) => {
        const forged = (i: number) => ({
          from: '127.0.0.2',
          headers: { 'x-forwarded-for': `192.0.2.${i}`, 'x-real-ip': `192.0.2.${i}` },
        })
        expect(await served(port, 20, forged)).toBe(5)
        expect(await served(port, 4, (i) => ({ path: '/all', from: `127.0.0.${10 + i}` }))).toBe(2)
      },
    ))

  test('more clients than 20, Envoy’s own default, have a bucket each', () =>
    behindEnvoy(RULE.replace('20/minute, burst: 20', '1/minute'), async (port) => {
      const client = (i: number) => ({ from: `127.0.0.${10 + i}` })
      expect(await served(port, 60, client)).toBe(60)
      expect(await served(port, 60, client)).toBe(0)
    }))
})
