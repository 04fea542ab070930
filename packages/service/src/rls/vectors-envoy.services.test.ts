import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Application,
  application,
  byHeaders,
  type Envoy,
  edge,
  generic,
  perRoute,
  startEnvoy,
} from './envoy.test-support.ts'
import { fixture, type GrpcBench, grpcBench, hitsOf } from './vectors.test-support.ts'

const ZERO = { hits_addend: { number: 0 } }
const DONE = { hits_addend: { number: 1 }, apply_on_stream_done: true }
const MINUTE = 60_000

/** What a route's limits need to know of the service that answered. */
const SERVED_BY = {
  actions: [
    {
      metadata: {
        descriptor_key: 'service',
        source: 'CLUSTER_LOCALITY_ENTRY',
        metadata_key: { key: 'envoy.cluster.locality', path: [{ key: 'name' }] },
      },
    },
  ],
  ...DONE,
}

/** Puts the name of the service that has quota where the load balancer looks for it. */
const BY_QUOTA = [
  {
    name: 'set_header',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation',
      mutations: {
        request_mutations: [
          {
            append: {
              header: {
                key: 'x-service-with-quota',
                value: '%DYNAMIC_METADATA(envoy.filters.http.ratelimit:metadata:service_with_quota:name)%',
              },
              append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
            },
          },
        ],
      },
    },
  },
  {
    name: 'header_to_metadata',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.header_to_metadata.v3.Config',
      stat_prefix: 'header_converter',
      request_rules: [
        {
          header: 'x-service-with-quota',
          on_header_present: { metadata_namespace: 'envoy.lb', key: 'service', type: 'STRING' },
        },
      ],
    },
  },
]

/** One cluster of two services, told apart by what the load balancer looks for. */
function multiservice(ports: readonly number[]): object {
  return {
    name: 'multiservice',
    lb_subset_config: { fallback_policy: 'ANY_ENDPOINT', subset_selectors: [{ keys: ['service'] }] },
    load_assignment: {
      cluster_name: 'multiservice',
      endpoints: ports.map((port_value, i) => ({
        locality: { region: `region_${i + 1}` },
        metadata: { filter_metadata: { 'envoy.cluster.locality': { name: `service_${i + 1}` } } },
        lb_endpoints: [
          {
            endpoint: { address: { socket_address: { address: '127.0.0.1', port_value } } },
            metadata: { filter_metadata: { 'envoy.lb': { service: `service_${i + 1}` } } },
          },
        ],
      })),
    },
  }
}

describe('integration-test/scripts of envoyproxy/ratelimit, through the real Envoy', () => {
  let first: Application
  let second: Application
  let service: GrpcBench
  let envoy: Envoy
  beforeAll(async () => {
    first = await application('Service 1')
    second = await application('Service 2')
  })
  afterAll(() => Promise.all([first.close(), second.close()]))
  beforeEach(async () => {
    service = await grpcBench(fixture('example'), { rls: { dynamicMetadata: true } })
    const [, port] = service.address.split(':')
    const configuration = edge({
      domain: 'rl',
      grpcPort: Number(port),
      applications: { app: first.port },
      filter: {
        enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
        rate_limited_as_resource_exhausted: true,
        timeout: '5s',
      },
      filters: BY_QUOTA,
      routes: [
        byHeaders('/twoheader', ['foo', 'bar'], ['foo', 'baz']),
        byHeaders('/fourheader', ['foo', 'bar'], ['source_cluster', 'destination_cluster']),
        byHeaders('/fiveheader', ['foo', 'bar'], ['source_cluster', 'destination_cluster'], ['category']),
        byHeaders('/unspec', ['unspec']),
        perRoute('/quota', 'app', generic('service', 'service_1'), generic('service', 'service_2')),
        perRoute(
          '/tokenquota',
          'app',
          generic('service', 'service_2', ZERO),
          generic('service', 'service_2', DONE),
        ),
        perRoute(
          '/multiservice',
          'multiservice',
          generic('service', 'service_1', ZERO),
          generic('service', 'service_2', ZERO),
          SERVED_BY,
        ),
      ],
    })
    envoy = await startEnvoy((ports) => {
      const made = configuration(ports) as { static_resources: { clusters: object[] } }
      made.static_resources.clusters.push(multiservice([first.port, second.port]))
      return made
    })
  })
  afterEach(async () => {
    await envoy.stop()
    await service.close()
  })

  const statuses = async (
    count: number,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<number[]> => {
    const found: number[] = []
    for (let i = 0; i < count; i++) found.push((await envoy.get(path, headers)).status)
    return found
  }
  /** Charges made after an answer are on their way when it arrives. */
  const charged = async (key: string, hits: number): Promise<void> => {
    await expect.poll(async () => (await hitsOf(service))[key]?.total_hits ?? 0).toBe(hits)
  }

  test('simple-get: 200 where no limit is over', async () => {
    expect(await statuses(1, '/twoheader', { foo: 'test', baz: 'shady' })).toEqual([200])
  })

  test('trigger-ratelimit: of 3 a minute, the fourth is 429', async () => {
    const headers = { foo: 'pelle', baz: 'not-so-shady' }
    expect(await statuses(4, '/twoheader', headers)).toEqual([200, 200, 200, 429])
    const refused = await envoy.get('/twoheader', headers)
    expect(refused.headers).toMatchObject({ 'x-envoy-ratelimited': 'true', 'x-ratelimit-remaining': '0' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  })

  test('trigger-shadow-mode-key: never 429, and nothing remains', async () => {
    const headers = { foo: 'pelle', baz: 'shady' }
    expect(await statuses(5, '/twoheader', headers)).toEqual([200, 200, 200, 200, 200])
    expect((await envoy.get('/twoheader', headers)).headers['x-ratelimit-remaining']).toBe('0')
  })

  test('replaces: a limit that another stands in for is not counted', async () => {
    const banned = { foo: 'bkthomps', bar: 'banned' }
    expect(await statuses(1, '/twoheader', banned)).toEqual([429])
    const to = (destination: string): Record<string, string> => ({
      source_cluster: 'proxy',
      destination_cluster: destination,
    })
    expect(await statuses(1, '/fourheader', { ...banned, ...to('mock') })).toEqual([429])
    expect(await statuses(3, '/fourheader', { ...banned, ...to('override') })).toEqual([200, 200, 429])

    const mine = { foo: 'my_foo', bar: 'bkthomps' }
    expect(await statuses(3, '/fourheader', { ...mine, ...to('bkthomps') })).toEqual([200, 200, 429])
    expect(await statuses(2, '/fourheader', { ...mine, ...to('not_bkthomps') })).toEqual([200, 429])
    expect(await statuses(1, '/fourheader', { ...mine, ...to('bkthomps') })).toEqual([429])

    const account = { ...mine, ...to('fake'), category: 'account' }
    expect(await statuses(5, '/fiveheader', account)).toEqual([200, 200, 200, 200, 429])
    expect(await statuses(2, '/twoheader', { foo: 'foo_2', bar: 'bkthomps' })).toEqual([200, 429])
    expect(await statuses(3, '/fourheader', { foo: 'foo_3', bar: 'bar_3', ...to('fake') })).toEqual([
      200, 200, 429,
    ])
    expect(await statuses(1, '/fiveheader', account)).toEqual([429])
  })

  test('quota: 2 pass, the third is refused, and after a minute one passes', async () => {
    expect(await statuses(3, '/quota', {})).toEqual([200, 200, 429])
    service.clock.advance(MINUTE)
    expect(await statuses(1, '/quota', {})).toEqual([200])
  })

  test('token-quota: looked at first and charged when the answer is sent: 3 pass, the fourth is refused', async () => {
    for (let sent = 1; sent <= 3; sent++) {
      expect(await statuses(1, '/tokenquota', {})).toEqual([200])
      await charged('rl.service_service_2', sent)
    }
    expect(await statuses(1, '/tokenquota', {})).toEqual([429])
    service.clock.advance(MINUTE)
    expect(await statuses(1, '/tokenquota', {})).toEqual([200])
  })

  test('multiservice-tokenquota: metadata of the limit that passed says which service answers', async () => {
    const served = async (): Promise<string> => {
      const { status, body } = await envoy.get('/multiservice')
      return status === 200 ? JSON.parse(body).name : String(status)
    }
    const hits = { first: 0, second: 0 }
    for (const name of ['Service 1', 'Service 1', 'Service 2', 'Service 2', 'Service 2']) {
      expect(await served()).toBe(name)
      if (name === 'Service 1') await charged('rl.service_service_1', ++hits.first)
      else await charged('rl.service_service_2', ++hits.second)
    }
    expect(await served()).toBe('429')
    service.clock.advance(MINUTE)
    expect(await served()).toBe('Service 1')
  })

  test('value-included-in-stats-key-when-unspecified: the third is 429, and counted under its value', async () => {
    expect(await statuses(3, '/unspec', { unspec: 'unspecified_value' })).toEqual([200, 200, 429])
    expect((await hitsOf(service))['rl.unspec_unspecified_value']).toMatchObject({ over_limit: 1 })
  })
})
