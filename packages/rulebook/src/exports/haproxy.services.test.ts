import { connect } from 'node:net'
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

/** HAProxy with the exported limits in front of an application. */
function behindHaproxy<T>(rulebook: string, body: (port: number, proxied: number) => Promise<T>): Promise<T> {
  return upstream(2_000, async (app) => {
    const [port, proxied] = [await freePort(), await freePort()]
    const { text, notes } = exported('haproxy', rulebook, { keys: 1_000 })
    expect(notes.filter(({ exported }) => !exported)).toEqual([])
    const own = `global
  nbthread 1
defaults own
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
backend app from own
  server app 127.0.0.1:${app}
frontend web from sluice
  bind 127.0.0.1:${port}
  bind 127.0.0.1:${proxied} accept-proxy
  timeout client 30s
  default_backend app
`
    return inFolder({ 'sluice.cfg': text, 'own.cfg': own }, async (folder) => {
      const args = ['-f', `${folder}/sluice.cfg`, '-f', `${folder}/own.cfg`]
      expect(await run('haproxy', ['-c', ...args])).toMatchObject({ code: 0 })
      return running('haproxy', args, port, () => body(port, proxied))
    })
  })
}

/** The status of a request from an address that the PROXY protocol names. */
async function askAs(port: number, address: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  const [family, own] = address.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1']
  socket.end(
    `PROXY ${family} ${address} ${own} 1 2\r\nGET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
  )
  let answer = ''
  for await (const chunk of socket.setEncoding('latin1')) answer += chunk
  return Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1])
}

const RULE =
  'domain: shop\nlimits:\n  - { name: api, key: [ip], limit: 20/minute, algorithm: sliding-window-counter }\n'

describe('HAProxy', () => {
  test('acceptance 2.6: a table of the right size that keeps two periods, and 429', () => {
    const { text } = exported('haproxy', RULE.replace('20/minute', '10/1m'))
    expect(text).toMatch(/^ {2}stick-table type ipv6 size 100000 expire 2m store http_req_rate\(1m\)$/m)
    expect(text).toMatch(
      /^ {2}http-request deny deny_status 429 if \{ var\(txn\.sluice_api\),table_http_req_rate\(sluice_api\) ge 10 \}$/m,
    )
  })

  test('acceptance 2.6: a token bucket is the count of its burst in the time that refills it, and the note says by how much it differs', () => {
    const { text, notes } = exported(
      'haproxy',
      RULE.replace('20/minute, algorithm: sliding-window-counter', '10/second, burst: 20'),
    )
    expect(text).toContain('http_req_rate(2s)')
    expect(text).toContain(' ge 20 }')
    expect(notes).toEqual([
      expect.objectContaining({
        rule: 'api',
        exported: true,
        message: expect.stringContaining('waits up to 2.1 s, where the rule has it wait 0.1 s'),
      }),
    ])
  })

  test('acceptance 2.4: of 40 at once exactly 20 are served, and none of another address is refused', () =>
    behindHaproxy(RULE, async (port) => {
      expect(await servedAtOnce(port, 40, { from: '127.0.0.2' })).toBe(20)
      expect(await served(port, 5, { from: '127.0.0.3' })).toBe(5)
    }))

  test('acceptance 2.4: of 300 calls at least 99 % are decided as ours', () =>
    behindHaproxy(RULE.replace('20/minute', '10/5s'), async (port) => {
      const agent = oneConnection()
      const policy = { algorithm: 'sliding-window-counter', limit: 10, period: 5_000 } as const
      const batches = Array.from({ length: 15 }, (_, i) => [20, (i * 7) % 3] as const)
      const call = async () => (await ask(port, { from: '127.0.0.2', agent })) === 200
      const { calls, alike, admitted } = await agreement(policy, batches, call)
      agent.destroy()
      expect(calls).toBe(300)
      expect(admitted).toBeGreaterThan(20)
      expect(alike).toBeGreaterThanOrEqual(297)
    }))

  test('a request that no condition leaves out is counted, in every spelling; all others are not', () =>
    behindHaproxy(
      `domain: shop
limits:
  - name: login
    when: { method: POST, path: [/login, "/api/:v/find*"], host: ["*.example.com"], header: { x-client: ["a'b\\"$x;{ #"] } }
    key: ["header:x-user", method]
    limit: 3/hour
`,
      async (port) => {
        const headers = { host: 'WWW.example.com:80', 'x-client': 'a\'b"$x;{ #', 'x-user': 'ada' }
        const spellings = ['/login', '/Login/', '//login', '/./login', '/x/../l%6Fgin', '/api/9/FINDings?x=1']
        expect(await served(port, 6, (i) => ({ method: 'POST', path: spellings[i]!, headers }))).toBe(3)
        const others = [
          { method: 'GET', headers },
          { path: '/logins', headers },
          { path: '/api/9/8/find', headers },
          { headers: { ...headers, host: 'www.example.org' } },
          { headers: { ...headers, 'x-client': 'a\'b"$x;{' } },
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

  test('FB-059: addresses of one /64 share a count, also as IPv4 inside IPv6 do with IPv4', () =>
    behindHaproxy(RULE.replace('20/minute', '3/minute'), async (_, proxied) => {
      const passed = async (address: (i: number) => string) => {
        let count = 0
        for (let i = 0; i < 8; i++) if ((await askAs(proxied, address(i))) === 200) count += 1
        return count
      }
      expect(await passed((i) => `2001:db8:0:1::${i}`)).toBe(3)
      expect(await passed((i) => `2001:db8:0:2:${i}::1`)).toBe(3)
      expect(await passed((i) => ['192.0.2.1', '::ffff:192.0.2.1'][i % 2]!)).toBe(3)
      expect(await passed((i) => `::ffff:192.0.2.${2 + i}`)).toBe(8)
    }))

  test('FB-061: forged X-Forwarded-For headers do not make other clients', () =>
    behindHaproxy(RULE.replace('20/minute', '5/minute'), async (port) => {
      const forged = (i: number) => ({
        from: '127.0.0.2',
        headers: { 'x-forwarded-for': `192.0.2.${i}`, 'x-real-ip': `192.0.2.${i}` },
      })
      expect(await served(port, 20, forged)).toBe(5)
    }))

  test('a count that is shared by all who lack the header, those who are exempt, and one for all', () =>
    behindHaproxy(
      `domain: shop
limits:
  - { name: user, when: { path: /user }, key: ["header:x-user", ip], on_missing_key: share, limit: 3/hour, exempt: [127.0.0.9] }
  - { name: all, when: { path: /all, ip: 127.0.0.0/24 }, key: [], limit: 4/hour }
  - { name: slots, when: { path: /slow }, key: [ip/24], limit: 3/1m, algorithm: concurrency }
`,
      async (port) => {
        const user = (i: number) => ({ path: '/user', from: `127.0.0.${2 + i}` })
        expect(await served(port, 6, user)).toBe(3)
        expect(await served(port, 6, (i) => ({ ...user(i), headers: { 'x-user': 'ada' } }))).toBe(6)
        expect(await served(port, 6, { path: '/user', from: '127.0.0.9' })).toBe(6)
        expect(await served(port, 6, (i) => ({ path: '/all', from: `127.0.0.${2 + i}` }))).toBe(4)
        expect(await served(port, 6, { path: '/all', from: '127.0.1.1' })).toBe(6)
        expect(await servedAtOnce(port, 10, { path: '/slow' })).toBe(3)
        expect(await servedAtOnce(port, 3, { path: '/slow', from: '127.0.0.7' })).toBe(3)
      },
    ))
})
