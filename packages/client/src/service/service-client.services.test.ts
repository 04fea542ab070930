import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Event } from '@sluice/limiter/events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  Cleanup,
  type Program,
  ROOT,
  startProgram,
} from '../../../cli/src/serve/proxies/processes.test-support.ts'
import { freePort } from '../../../limiter/src/free-port.test-support.ts'
import { createServiceClient } from './service-client.ts'
import type { ServiceClientOptions } from './service-client-options.ts'
import type { ServiceClient } from './service-verbs.ts'

const RULES = `
domain: shop
limits:
  - { name: daily, key: [user], limit: 500/365d, algorithm: fixed-window, when: { path: /daily } }
  - { name: all, key: [], limit: 1000000/day, when: { path: /all } }
`
const PATIENT = { deadlineMs: 30_000 }

const cleanup = new Cleanup()
let program: Program
let url = ''

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-client-'))
  cleanup.add(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'rules.yaml'), RULES)
  const [http, admin] = [await freePort(), await freePort()]
  url = `http://127.0.0.1:${http}`
  const bin = join(ROOT, 'packages/cli/bin/sluice.js')
  const addresses = ['--http', `127.0.0.1:${http}`, '--admin', `127.0.0.1:${admin}`]
  program = await startProgram(
    cleanup,
    [process.execPath, bin, 'serve', '--log-level', 'silent', folder, ...addresses],
    [http, admin],
  )
})
afterAll(() => cleanup.run())

function client(options: Partial<ServiceClientOptions> = {}): ServiceClient {
  return createServiceClient({ url, domain: 'shop', ...PATIENT, ...options }) as unknown as ServiceClient
}

const daily = (user: string): { request: { path: string; attributes: { user: string } } } => ({
  request: { path: '/daily', attributes: { user } },
})
const ALL = { request: { path: '/all' } }

describe('the client of a service process', () => {
  it('10,000 checks of one tick are 10 calls, each charged once', async () => {
    const events: Event[] = []
    const one = client({ observe: (event) => events.push(event) })
    const answers = await Promise.all(Array.from({ length: 10_000 }, () => one.check(ALL)))
    expect(answers.every(({ allowed, degraded }) => allowed && !degraded)).toBe(true)
    expect(events.filter(({ type }) => type === 'service-answered')).toHaveLength(10)
    expect(await one.peek(ALL)).toMatchObject({ remaining: expect.closeTo(990_000, -3) })
  })

  it.each([
    ['asked one by one', undefined],
    ['with units taken ahead', { units: 20, clients: 8 }],
  ])('8 clients %s admit exactly the limit', async (_, lease) => {
    const user = `exact ${lease === undefined}`
    const clients = Array.from({ length: 8 }, () => client({ ...(lease && { lease }) }))
    let admitted = 0
    const ask = async (one: ServiceClient): Promise<boolean> => {
      const { allowed, degraded } = await one.check(daily(user))
      expect(degraded).toBe(false)
      if (allowed) admitted++
      return allowed
    }
    const askUntilRefused = async (one: ServiceClient): Promise<void> => {
      while (await ask(one));
    }
    await Promise.all(clients.flatMap((one) => Array.from({ length: 8 }, () => askUntilRefused(one))))
    expect(admitted).toBe(500)
    await Promise.all(clients.map((one) => one.close()))
  })

  it('a service that hangs, dies and comes back', async () => {
    const one = client({ deadlineMs: 200, breaker: { failures: 2, probeEveryMs: 50 }, onError: 'closed' })
    const lasting = (await client().reserve(daily('settled'))).id
    const untilExact = async (): Promise<void> => {
      for (let tries = 0; (await one.check(ALL)).degraded; tries++) {
        expect(tries).toBeLessThan(10_000)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    await untilExact()
    program.pause()
    expect(await one.check(ALL)).toMatchObject({ allowed: false, degraded: true, status: 503 })
    expect(await one.check(ALL, { onError: 'open' })).toMatchObject({ allowed: true, degraded: true })
    program.resume()
    await untilExact()
    expect(await client().commit(lasting, { cost: 1 })).toBe(true)
    await program.kill()
    expect(await one.check(ALL)).toMatchObject({ allowed: false, degraded: true })
    await expect(client().commit(lasting, { cost: 1 })).rejects.toMatchObject({ code: 'ERR_SLUICE_SERVICE' })
    await program.start()
    await untilExact()
  })
})
