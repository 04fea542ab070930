import { createService, type Service } from '@sluice/service'
import { afterEach, describe, expect, test } from 'vitest'
import { main } from '../main.ts'
import { fakeIo, runLine } from '../testing.ts'

const SHOP = new URL('../../fixtures/rules/shop.yaml', import.meta.url).pathname
const TOKEN = 'a-token-for-the-test'

const running: Service[] = []
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop()
})

async function start(options: object = {}): Promise<{ http: string; admin: string; service: Service }> {
  const service = createService({
    rules: [SHOP],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    idleMs: 0,
    watch: false,
    log: { level: 'silent' },
    ...options,
  })
  running.push(service)
  return { ...(await service.start()), service }
}

async function login(http: string, times: number, ip: string): Promise<void> {
  for (let i = 0; i < times; i++) {
    await fetch(`${http}/v1/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        domain: 'shop',
        request: { method: 'POST', path: '/login', ip, headers: { 'X-Any': 'x' } },
      }),
    })
  }
}

/** What it prints, once the seconds that are over have so many requests. */
async function once(argv: readonly string[], requests: number, env = {}): Promise<string> {
  let out = ''
  await expect
    .poll(async () => {
      const ran = await runLine(['top', '--once', ...argv], '', env)
      expect([ran.code, ran.err]).toEqual([0, ''])
      out = ran.out
      return out
    })
    .toContain(`requests ${requests} (`)
  return out
}

describe('sluice top', () => {
  test('prints what a service does: which limit refuses, whom, and whether the store is well', async () => {
    const { http, admin } = await start()
    await login(http, 8, '203.0.113.7')
    const out = await once([admin], 8)
    expect(out).toMatch(/^sluice top {3}127\.0\.0\.1:\d+ {3}rulebook [\da-f]{12}\n\n/)
    expect(out).toContain(
      'login refused 38 % of its requests in the last minute, most of all from 203.0.113.7. The store (memory) is well.\n',
    )
    expect(out).toMatch(
      /requests 8 \([\d.]+\/s\) {3}refused 3 \(38 %\) {3}takes \S+ \S+, 99 % \S+ \S+ {3}without the store 0\n/,
    )
    expect(out).toMatch(/\nlogin +8 {8}3 {3}38 % {2}··▁·▁·▁·▁▁ ▂\n/)
    expect(out).toMatch(/\nmost over the limit, 5 minutes {2}times {2}limit\n203\.0\.113\.7 +3 {2}login\n/)
  })

  test('shows several nodes as one', async () => {
    const nodes = [await start(), await start()]
    for (const { http } of nodes) await login(http, 7, '203.0.113.7')
    const out = await once(
      nodes.map(({ admin }) => admin),
      14,
    )
    expect(out).toMatch(/refused 4 \(29 %\)/)
    expect(out).toMatch(/\n203\.0\.113\.7 +4 {2}login\n/)
  })

  test('paints a terminal anew every second, until it is interrupted, and leaves it as it was', async () => {
    const { http, admin } = await start()
    const { io, out, signal } = fakeIo()
    Object.assign(io.stdout, { isTTY: true, columns: 60, rows: 12 })
    const ended = main(['top', admin], io)
    await login(http, 6, '203.0.113.7')
    await expect.poll(out).toContain('requests 6 (')
    signal('SIGINT')
    expect(await ended).toBe(0)
    const frames = out().split('\x1b[H\x1b[J').slice(1)
    for (const lines of frames.map((frame) => frame.split('\r\n'))) {
      expect(lines.length).toBeLessThanOrEqual(12)
      expect(
        Math.max(...lines.map((line) => line.replace('\x1b[?25h\x1b[?1049l', '').trimEnd().length)),
      ).toBeLessThanOrEqual(60)
    }
    expect([out().startsWith('\x1b[?1049h\x1b[?25l'), out().endsWith('\x1b[?25h\x1b[?1049l')]).toEqual([
      true,
      true,
    ])
  })

  test('brings the token, and says where to set it', async () => {
    const { admin } = await start({ adminToken: TOKEN })
    expect(await runLine(['top', '--once', admin])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/asks for its token: set SLUICE_ADMIN_TOKEN/),
    })
    await once([admin], 0, { SLUICE_ADMIN_TOKEN: TOKEN })
  })

  test('ends with a message where nothing answers, and when the service stops', async () => {
    const { admin, service } = await start()
    const { io, err, out } = fakeIo()
    Object.assign(io.stdout, { isTTY: true, columns: 80, rows: 24 })
    const ended = main(['top', admin], io)
    await expect.poll(out).toContain('sluice top')
    await service.stop()
    expect({ code: await ended, err: err() }).toMatchObject({
      code: 2,
      err: expect.stringMatching(/has ended its stream|does not answer/),
    })
    expect(await runLine(['top', admin])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/does not answer/),
    })
    expect(await runLine(['top', 'a b'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"a b" is no address/),
    })
  })
})
