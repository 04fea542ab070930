import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  CONNECTOR,
  inNamespaces,
  LISTENER,
  type Namespace,
} from '../../../rulebook/src/exports/namespaces.test-support.ts'

/** As it was built. */
const SLUICE = join(import.meta.dirname, '../../bin/sluice.js')

async function reaches(client: Namespace, host: string): Promise<boolean> {
  const { connected } = await client.script<{ connected: number }>(CONNECTOR, host, 8080, 1, 400)
  return connected === 1
}

test('acceptance 7.7: an offender is dropped, and free again by itself; the admin, allow lists and this machine never are', () =>
  inNamespaces(3, async (server, [offender, admin, allowed]) => {
    await server.serve(LISTENER, 8080)
    const ban = server.start(
      process.execPath,
      SLUICE,
      'ban',
      '--admin',
      '10.0.2.0/24',
      '--admin',
      'fd00:2::2',
      '--allow',
      '10.0.3.2',
    )
    let said = ''
    ban.stderr!.on('data', (text) => {
      said += text
    })
    while (!said.includes('in force')) await wait(20)
    const all = [
      '10.0.1.2',
      '10.0.1.1',
      'fd00:1::77',
      '10.0.2.2',
      'fd00:2::2',
      '10.0.3.2',
      '127.0.0.1',
      '::1',
    ]
    for (const ip of all) ban.stdin!.write(`${JSON.stringify({ ip, for: '20s' })}\nnonsense\n`)
    const began = performance.now()
    const banned = () => server.run('nft', 'list', 'table', 'inet', 'sluice_ban')
    while (!/banned_v6[^}]*fd00:1::/s.test(await banned())) await wait(20)
    const table = await banned()
    expect(table).toMatch(/set banned_v4 \{[^}]*elements = \{ 10\.0\.1\.2 timeout 20s/s)
    expect(table.match(/ timeout 20s/g)).toHaveLength(2)
    expect(await reaches(offender!, '10.0.1.1')).toBe(false)
    expect(await reaches(offender!, 'fd00:1::1')).toBe(false)
    expect(await reaches(admin!, '10.0.2.1')).toBe(true)
    expect(await reaches(admin!, 'fd00:2::1')).toBe(true)
    expect(await reaches(allowed!, '10.0.3.1')).toBe(true)
    expect(await server.script(CONNECTOR, '127.0.0.1', 8080, 1, 400)).toMatchObject({ connected: 1 })
    expect(said).toContain('10.0.2.2 is in 10.0.2.0/24, which is never banned')
    expect(said).toContain('10.0.1.1 is in 10.0.1.1, which is never banned')
    expect(said).toContain('::1 is in ::/127, which is never banned')
    expect(said.match(/not JSON/g)).toHaveLength(1)
    while (!(await reaches(offender!, '10.0.1.1'))) await wait(100)
    expect(performance.now() - began).toBeGreaterThan(15_000)

    ban.stdin!.write(`{"ip":"10.0.1.2","for":"1h"}\n`)
    ban.stdin!.end()
    await once(ban, 'exit')
    expect(ban.exitCode).toBe(0)
    expect(await reaches(offender!, '10.0.1.1')).toBe(false) // also when it has ended
  }))

test('acceptance 7.7: a ban leaves connections alone that this machine opens', () =>
  inNamespaces(1, async (server, [offender]) => {
    await offender!.serve(LISTENER, 8080)
    const ban = server.start(process.execPath, SLUICE, 'ban', '--admin', '192.0.2.1')
    ban.stdin!.write('{"ip":"10.0.1.2","for":"1h"}\n')
    const table = () => server.run('nft', 'list', 'table', 'inet', 'sluice_ban').catch(() => '')
    while (!/10\.0\.1\.2 timeout/.test(await table())) await wait(20)
    ban.kill('SIGTERM')
    await once(ban, 'exit')
    expect(ban.exitCode).toBe(0)
    expect(await server.run('nft', 'list', 'table', 'inet', 'sluice_ban')).toMatch(/10\.0\.1\.2 timeout 1h/)
    expect(await reaches(server, '10.0.1.2')).toBe(true)
  }))

test('acceptance 7.7: without the capability it refuses to start', () =>
  inNamespaces(0, async (server) => {
    const started = server.run('unshare', '-r', process.execPath, SLUICE, 'ban', '--admin', '192.0.2.1')
    await expect(started).rejects.toThrow(/it needs the capability CAP_NET_ADMIN/)
  }))
