import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { exported, HOSTILE_NAMES, inFolder, run } from './proxies.test-support.ts'

const RULEBOOK = `domain: "d # ; }"
limits:
${HOSTILE_NAMES.map(
  (name) =>
    `  - { name: ${JSON.stringify(name)}, key: [ip, "header:x-user"], when: { path: "/a;{}'\\"$b", header: { x-name: [${JSON.stringify(name)}, "%[src]"] } }, limit: 10/second }\n`,
).join('')}network:
${HOSTILE_NAMES.map((name) => `  - { name: ${JSON.stringify(name)}, port: 80, key: [ip], limit: 20/second }\n`).join('')}`

/** Whether what is exported passes the program's own check, and has all rules in it. */
function checked(
  text: string,
  files: Readonly<Record<string, string>>,
  check: (folder: string) => readonly [program: string, ...args: string[]],
): Promise<void> {
  return inFolder({ exported: text, ...files }, async (folder) => {
    const [program, ...args] = check(folder)
    expect(await run(program, args)).toMatchObject({ code: 0 })
  })
}

test('acceptance 2.4: nginx -t passes, whatever the names and values are', () => {
  const { text } = exported('nginx', RULEBOOK)
  expect(text.match(/^limit_req zone=/gm)).toHaveLength(HOSTILE_NAMES.length)
  const own = 'pid pid; events { } error_log stderr; http { access_log off; include exported; }'
  return checked(text, { 'nginx.conf': own }, (folder) => [
    'nginx',
    '-t',
    '-p',
    folder,
    '-c',
    'nginx.conf',
    '-e',
    'stderr',
  ])
})

test('acceptance 2.6: haproxy -c passes, whatever the names and values are', () => {
  const { text } = exported('haproxy', RULEBOOK)
  expect(text.match(/^ {2}http-request deny /gm)).toHaveLength(3)
  const own = 'frontend web from sluice\n  bind 127.0.0.1:1\n  timeout client 1s\n'
  return checked(text, { own }, (folder) => [
    'haproxy',
    '-c',
    '-f',
    `${folder}/exported`,
    '-f',
    `${folder}/own`,
  ])
})

test('envoy --mode validate passes, whatever the names and values are', () => {
  const { text } = exported('envoy', RULEBOOK)
  const [{ name, typed_config }] = parse(text).resources
  expect(
    typed_config.descriptors.map(({ entries }: { entries: { value: string }[] }) => entries[0]!.value),
  ).toEqual(HOSTILE_NAMES)
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'ingress',
    route_config: {},
    http_filters: [
      { name, typed_config },
      {
        name: 'router',
        typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
      },
    ],
  }
  const own = {
    static_resources: {
      listeners: [
        {
          address: { socket_address: { address: '127.0.0.1', port_value: 1 } },
          filter_chains: [
            { filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] },
          ],
        },
      ],
    },
  }
  return checked(text, { 'own.json': JSON.stringify(own) }, (folder) => [
    'envoy',
    '--mode',
    'validate',
    '-c',
    `${folder}/own.json`,
  ])
})

test.each(['nft', 'iptables'])(
  'acceptance 7.1: %s checks what is exported, whatever the names are',
  (format) => {
    const { text } = exported('nftables', RULEBOOK, { format })
    return checked(text, {}, (folder) => [
      'unshare',
      '-rn',
      ...(format === 'nft' ? ['nft', '-c', '-f'] : ['iptables-restore', '--noflush', '--test']),
      `${folder}/exported`,
    ])
  },
)
