import { describe, expect, test } from 'vitest'
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

/** nginx with the exported limits in front of an application. */
function behindNginx<T>(rulebook: string, body: (port: number) => Promise<T>, more = ''): Promise<T> {
  return upstream(2_000, async (app) => {
    const port = await freePort()
    const { text, notes } = exported('nginx', rulebook, { keys: 1_000 })
    expect(notes.filter(({ exported }) => !exported)).toEqual([])
    return inFolder({ 'sluice.conf': text, 'nginx.conf': configured(port, app, more) }, async (folder) => {
      const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr']
      expect(await run('nginx', ['-t', ...args])).toMatchObject({ code: 0 })
      return running('nginx', args, port, () => body(port))
    })
  })
}

function configured(port: number, app: number, more: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off; pid pid; worker_processes 2; events { worker_connections 512; }
error_log stderr crit;
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
  ${more}
  include sluice.conf;
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${app}; } }
}`
}

const RULE = 'domain: shop\nlimits:\n  - { name: api, key: [ip], limit: 20/minute, burst: 20 }\n'

describe('nginx', () => {
  test('acceptance 2.4: 10/second, burst 20 is rate=10r/s, burst=19 nodelay, refused with 429', () => {
    const { text } = exported('nginx', RULE.replace('20/minute', '10/second'))
    expect(text).toMatch(/^limit_req_zone \$sluice_key_api zone=sluice_api:13m rate=10r\/s;$/m)
    expect(text).toMatch(/^limit_req zone=sluice_api burst=19 nodelay;$/m)
    expect(text).toMatch(/^limit_req_status 429;$/m)
  })

  test('acceptance 2.4: of 40 at once exactly 20 are served, and none of another address is refused', () =>
    behindNginx(RULE, async (port) => {
      expect(await servedAtOnce(port, 40, { from: '127.0.0.2' })).toBe(20)
      expect(await served(port, 5, { from: '127.0.0.3' })).toBe(5)
    }))

  test('acceptance 2.4: of 300 calls at least 99 % are decided as ours', () =>
    behindNginx(RULE.replace('20/minute', '2/second').replace('20 }', '5 }'), async (port) => {
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
    behindNginx(
      `domain: shop
limits:
  - name: login
    when: { method: POST, path: [/login, "/api/:v/find*"], host: ["*.example.com"], header: { x-client: ["a'b\\"$x;{"] } }
    key: ["header:x-user", method]
    limit: 3/minute
`,
      async (port) => {
        const headers = { host: 'WWW.example.com:80', 'x-client': 'a\'b"$x;{', 'x-user': 'ada' }
        const spellings = ['/login', '/Login/', '//login', '/./login', '/x/../l%6Fgin', '/api/9/FINDings?x=1']
        expect(await served(port, 6, (i) => ({ method: 'POST', path: spellings[i]!, headers }))).toBe(3)
        const others = [
          { method: 'GET', headers },
          { path: '/logins', headers },
          { path: '/api/9/8/find', headers },
          { headers: { ...headers, host: 'www.example.org' } },
          { headers: { ...headers, 'x-client': 'a\'b"$x;' } },
          { headers: { ...headers, 'x-user': '' } },
        ]
        expect(
          await served(port, others.length, (i) => ({ method: 'POST', path: '/login', ...others[i] })),
        ).toBe(others.length)
        expect(
          await served(port, 4, { method: 'POST', path: '/login', headers: { ...headers, 'x-user': 'bob' } }),
        ).toBe(3)
      },
    ))

  test('FB-059: addresses of one /64 share a count, also as IPv4 inside IPv6 do with IPv4', () =>
    behindNginx(
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
            as((i) => ['192.0.2.1', '::ffff:192.0.2.1', '64:ff9b::192.0.2.1'][i % 3]!),
          ),
        ).toBe(3)
        expect(
          await served(
            port,
            8,
            as((i) => `::ffff:192.0.2.${2 + i}`),
          ),
        ).toBe(8)
      },
      'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;',
    ))

  test('FB-061: forged X-Forwarded-For headers do not make other clients', () =>
    behindNginx(RULE.replace('20/minute, burst: 20', '5/minute'), async (port) => {
      const forged = (i: number) => ({
        from: '127.0.0.2',
        headers: { 'x-forwarded-for': `192.0.2.${i}`, 'x-real-ip': `192.0.2.${i}` },
      })
      expect(await served(port, 20, forged)).toBe(5)
    }))

  test('a count that is shared by all who lack the header, those who are exempt, and one for all', () =>
    behindNginx(
      `domain: shop
limits:
  - { name: user, when: { path: /user }, key: ["header:x-user", ip], on_missing_key: share, limit: 3/minute, exempt: [127.0.0.9] }
  - { name: all, when: { path: /all, ip: 127.0.0.0/24 }, key: [], limit: 4/minute }
`,
      async (port) => {
        const user = (i: number) => ({ path: '/user', from: `127.0.0.${2 + i}` })
        expect(await served(port, 6, user)).toBe(3)
        expect(await served(port, 6, (i) => ({ ...user(i), headers: { 'x-user': 'ada' } }))).toBe(6)
        expect(await served(port, 6, { path: '/user', from: '127.0.0.9' })).toBe(6)
        expect(await served(port, 6, (i) => ({ path: '/all', from: `127.0.0.${2 + i}` }))).toBe(4)
        expect(await served(port, 6, { path: '/all', from: '127.0.1.1' })).toBe(6)
      },
    ))

  test('concurrency: three at one time; a leaky bucket holds back, and refuses what finds it full', () =>
    behindNginx(
      `domain: shop
limits:
  - { name: slots, when: { path: /slow }, key: [ip], limit: 3/1m, algorithm: concurrency }
  - { name: queue, when: { path: /queue }, key: [ip], limit: 1/second, burst: 5, algorithm: leaky-bucket }
`,
      async (port) => {
        expect(await servedAtOnce(port, 10, { path: '/slow' })).toBe(3)
        expect(await servedAtOnce(port, 3, { path: '/slow' })).toBe(3)
        const began = performance.now()
        expect(await servedAtOnce(port, 12, { path: '/queue' })).toBe(5)
        expect(performance.now() - began).toBeGreaterThan(3_800)
      },
    ))
})
