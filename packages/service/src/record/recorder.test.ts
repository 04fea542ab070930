import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { bench, post, type ServiceBench } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-recorder-'))
afterAll(() => rmSync(folder, { recursive: true }))

const RULES = `domain: shop
limits:
  - { name: login, key: [ip], limit: 1/minute, algorithm: fixed-window }
`
const LOGIN = { domain: 'shop', request: { path: '/login?next=/', method: 'POST', ip: '192.0.2.1' } }

let service: ServiceBench
afterEach(() => service.close())

function linesOf(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('a service that records', () => {
  it('writes what it was asked and what it answered, with the time of the decision', async () => {
    const file = join(folder, 'plain')
    service = await bench(RULES, { record: { file, plain: ['ip'] } })
    await post(service.http, '/v1/check', LOGIN)
    service.clock.advance(1_500.25)
    await post(service.http, '/v1/check', { ...LOGIN, cost: 1 })
    await post(service.http, '/v1/check?peek=true', LOGIN)
    await post(service.http, '/v1/reserve', { domain: 'shop', request: { ip: '192.0.2.2' } })
    await post(service.http, '/v1/check', { domain: 'nowhere', request: {} }) // a mistake is no decision
    await service.recorder!.end()
    const asked = { request: { method: 'POST', path: '/login', ip: '192.0.2.1' } }
    const common = { api: 'http', domain: 'shop', policy: 'login', remaining: 0 }
    expect(linesOf(file)).toEqual([
      { time: '2026-01-01T00:00:00.000000Z', ...common, asked, allowed: true, waitMs: 0 },
      {
        time: '2026-01-01T00:00:01.500250Z',
        ...common,
        asked: { ...asked, cost: 1 },
        allowed: false,
        waitMs: 58_499.75,
      },
      {
        time: '2026-01-01T00:00:01.500250Z',
        ...common,
        asked,
        peek: true,
        allowed: false,
        waitMs: 58_499.75,
      },
      {
        time: '2026-01-01T00:00:01.500250Z',
        ...common,
        asked: { request: { ip: '192.0.2.2' } },
        allowed: true,
        waitMs: 0,
      },
    ])
  })

  it('decides on when the disk is full, counts the lines that are lost, and says so once a minute', async () => {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    service = await bench(RULES, { record: { file: '/dev/full' }, log: { level: 'warn', stream } })
    for (let i = 0; i < 5; i++) {
      expect((await post(service.http, '/v1/check', LOGIN)).status).toBe(200)
      await service.recorder!.end() // each is written by itself
    }
    const said = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg.startsWith('lines of the record'))
    expect(said[0]).toMatchObject({ lines: 1, reason: expect.stringContaining('ENOSPC') })
    const metrics = (await service.admin.inject('/metrics')).body
    expect(metrics).toContain('sluice_record_lines_total{outcome="written"} 0')
    expect(metrics).toContain('sluice_record_lines_total{outcome="dropped"} 5')
  })

  it('says at once which file it cannot write to', async () => {
    service = await bench(RULES, { record: { file: join(folder, 'no/such') } })
    await expect(service.recorder!.open()).rejects.toThrow(/^record\.file: ENOENT/)
  })
})
