import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from 'vitest'
import { Cleanup, startApp, startProgram } from '../../../../cli/src/serve/proxies/processes.test-support.ts'
import { freePort } from '../../../../limiter/src/free-port.test-support.ts'
import { startEnvoy } from '../../../../service/src/rls/envoy.test-support.ts'
import type { Format } from '../formats.ts'
import { type ReadEntry, readAll } from '../reading.test-support.ts'

const cleanup = new Cleanup()
const folder = mkdtempSync(join(tmpdir(), 'sluice-servers-'))
afterEach(() => cleanup.run())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const AGENT = 'lab/1.0 "quoted\\ and more"'
const REFERER = 'https://shop.example/a?b="c"'

/** Asks a server three things, and reads what it wrote of them. */
async function logOf(port: number, written: () => string, format?: Format): Promise<readonly ReadEntry[]> {
  const before = Date.now()
  await ask(port, 'GET', '/search?q=%22tea%22&r=1', { referer: REFERER, 'user-agent': AGENT })
  await ask(port, 'POST', '/login', { 'user-agent': AGENT })
  await ask(port, 'GET', '/caf%C3%A9', {})
  for (;;) {
    const { entries, unreadable } = await readAll(written(), { format })
    const ours = entries.filter(({ request: { path = '' } }) => /^\/(search|login|caf)/.test(path))
    if (ours.length < 3) {
      await wait(50)
      continue
    }
    expect(unreadable).toEqual([])
    for (const { at } of ours) {
      // Whole seconds in some, and the request began before it ended.
      expect(at / 1_000).toBeGreaterThan(before - 2_000)
      expect(at / 1_000).toBeLessThan(Date.now() + 2_000)
    }
    return ours.sort((a, b) => (a.request.path! < b.request.path! ? 1 : -1))
  }
}

function ask(port: number, method: string, path: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      response.resume().on('end', resolve)
    })
    sent.on('error', reject).end()
  })
}

function expectOurs(found: readonly ReadEntry[], { headers = true, ip = '127.0.0.1' as unknown } = {}): void {
  expect(found).toMatchObject([
    {
      request: {
        ip,
        method: 'GET',
        path: '/search',
        query: { q: '"tea"', r: '1' },
        ...(headers && { headers: { 'user-agent': AGENT } }),
        attributes: { status: 200 },
      },
    },
    { request: { ip, method: 'POST', path: '/login', attributes: { status: 200 } } },
    { request: { ip, method: 'GET', path: '/caf%C3%A9', attributes: { status: 200 } } },
  ])
}

function fileIn(name: string, text?: string): string {
  const path = join(folder, name)
  if (text !== undefined) writeFileSync(path, text)
  return path
}

function reading(path: string): () => string {
  return () => (existsSync(path) ? readFileSync(path, 'utf8') : '')
}

test.each(['combined', 'nginx-json'] as const)('nginx writes %s', async (format) => {
  const port = await freePort()
  const log = fileIn(`nginx-${format}.log`)
  const json =
    '{"time_iso8601":"$time_iso8601","remote_addr":"$remote_addr","request":"$request","status":$status,"body_bytes_sent":$body_bytes_sent,"request_time":$request_time,"http_referer":"$http_referer","http_user_agent":"$http_user_agent"}'
  const conf = fileIn(
    'nginx.conf',
    `events {}
http {
  log_format nginx-json escape=json '${json}';
  access_log ${log} ${format};
  server { listen 127.0.0.1:${port}; location / { return 200 "ok"; } }
}`,
  )
  const command = ['nginx', '-p', folder, '-c', conf, '-e', 'stderr'] as const
  await startProgram(cleanup, [...command, '-g', `daemon off; pid ${folder}/pid;`], [port])
  const found = await logOf(port, reading(log))
  expectOurs(found)
  expect(found[0]!.request.headers).toEqual({ referer: REFERER, 'user-agent': AGENT })
})

test('Caddy writes JSON', async () => {
  const port = await freePort()
  const log = fileIn('caddy.log')
  const file = fileIn(
    'Caddyfile',
    `{
	admin off
	auto_https off
}
http://127.0.0.1:${port} {
	log {
		output file ${log}
	}
	respond "ok" 200
}
`,
  )
  await startProgram(cleanup, ['caddy', 'run', '--adapter', 'caddyfile', '--config', file], [port])
  const found = await logOf(port, reading(log))
  expectOurs(found)
  expect(found[0]!.request.headers).toEqual({ referer: REFERER, 'user-agent': AGENT })
})

test('HAProxy writes its HTTP log', async () => {
  const port = await freePort()
  const app = await startApp(cleanup)
  // One thread: of two that write a line at once, HAProxy drops one's.
  const file = fileIn(
    'haproxy.cfg',
    `global
  nbthread 1
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend web
  bind 127.0.0.1:${port}
  http-request capture req.hdr(User-Agent) len 64
  default_backend app
backend app
  server app 127.0.0.1:${app.port}
`,
  )
  const haproxy = await startProgram(cleanup, ['haproxy', '-f', file], [port])
  const written = () =>
    haproxy.printed
      .split('\n')
      .filter((line) => line.includes('[') && line.includes('web') && line.includes('HTTP/1.1"'))
      .join('\n')
  expectOurs(await logOf(port, written), { headers: false })
})

test.each([
  ['common', 'combined'],
  ['json', 'traefik'],
] as const)('Traefik writes %s', async (form, format) => {
  const port = await freePort()
  const app = await startApp(cleanup)
  const log = fileIn(`traefik-${form}.log`)
  const rules = fileIn(
    'dynamic.yaml',
    `http:
  routers: { all: { rule: "PathPrefix(\`/\`)", service: app } }
  services: { app: { loadBalancer: { servers: [{ url: "http://127.0.0.1:${app.port}" }] } } }
`,
  )
  const names = '{ defaultMode: keep, headers: { defaultMode: keep } }'
  const file = fileIn(
    'traefik.yaml',
    `entryPoints: { web: { address: "127.0.0.1:${port}" } }
providers: { file: { filename: ${rules} } }
accessLog: { filePath: ${log}, format: ${form}, fields: ${names} }
`,
  )
  await startProgram(cleanup, ['traefik', `--configFile=${file}`], [port])
  while ((await statusOf(port)) !== 200) await wait(50)
  const found = await logOf(port, reading(log), format)
  expectOurs(found, { headers: form === 'json' })
})

function statusOf(port: number): Promise<number> {
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path: '/ready', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
      .on('error', () => resolve(0))
      .end()
  })
}

const ENVOY_JSON = {
  start_time: '%START_TIME%',
  method: '%REQ(:METHOD)%',
  path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
  response_code: '%RESPONSE_CODE%',
  bytes_sent: '%BYTES_SENT%',
  duration: '%DURATION%',
  x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
  user_agent: '%REQ(USER-AGENT)%',
  authority: '%REQ(:AUTHORITY)%',
  downstream_remote_address: '%DOWNSTREAM_REMOTE_ADDRESS%',
}

test.each(['envoy', 'envoy-json'] as const)('Envoy writes %s', async (format) => {
  const log = fileIn(`${format}.log`)
  const type = 'type.googleapis.com/envoy.extensions'
  const envoy = await startEnvoy(
    ({ listener, admin }) => ({
      admin: { address: { socket_address: { address: '127.0.0.1', port_value: admin } } },
      static_resources: {
        listeners: [
          {
            address: { socket_address: { address: '127.0.0.1', port_value: listener } },
            filter_chains: [
              {
                filters: [
                  {
                    name: 'http',
                    typed_config: {
                      '@type': `${type}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
                      stat_prefix: 'edge',
                      use_remote_address: true,
                      access_log: [
                        {
                          name: 'file',
                          typed_config: {
                            '@type': `${type}.access_loggers.file.v3.FileAccessLog`,
                            path: log,
                            ...(format === 'envoy-json' && { log_format: { json_format: ENVOY_JSON } }),
                          },
                        },
                      ],
                      route_config: {
                        virtual_hosts: [
                          {
                            name: 'all',
                            domains: ['*'],
                            routes: [{ match: { prefix: '/' }, direct_response: { status: 200 } }],
                          },
                        ],
                      },
                      http_filters: [
                        {
                          name: 'router',
                          typed_config: { '@type': `${type}.filters.http.router.v3.Router` },
                        },
                      ],
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
    }),
    '--file-flush-interval-msec',
    '50',
  )
  cleanup.add(() => envoy.stop())
  // For a client on its own machine Envoy forwards an address of that machine.
  expectOurs(await logOf(envoy.port, reading(log)), { ip: expect.stringMatching(/^\d+(\.\d+){3}$/) })
})
