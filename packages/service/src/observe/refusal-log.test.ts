import { createLimiter } from '@sluice/limiter'
import type { Event } from '@sluice/limiter/events'
import { RefusalLog } from '@sluice/observe/parts'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServiceOptions } from '../service-options.ts'
import { bench, post, type ServiceBench } from '../testing.ts'
import { createLog } from './log.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 1/minute, algorithm: gcra }
  - { name: api, when: { path: /api }, key: ["header:x-api-key", api-key], limit: 1/hour }
  - { name: session, when: { path: /session }, key: ["cookie:sid"], limit: 1/hour }
  - { name: user, when: { path: /user }, key: [user], limit: 1/hour }
`
const ADDRESS = '203.0.113.77'
const SECRETS = [
  'k3y-of-header-0123456789',
  'k3y-of-attribute-0123456789',
  'c00kie-0123456789',
  's3cret-0123456789',
]

const opened: ServiceBench[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

/** A service, and what its log has. */
async function open(log: ServiceOptions['log'] = {}): Promise<{ service: ServiceBench; lines: string[] }> {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const service = await bench(RULES, { secret: SECRETS[3]!, log: { stream, ...log } })
  opened.push(service)
  return { service, lines }
}

// biome-ignore lint/suspicious/noExplicitAny: lines of every shape
const read = (lines: readonly string[]): any[] => lines.map((line) => JSON.parse(line))

async function everyRule({ http }: ServiceBench): Promise<void> {
  const [header, attribute, cookie] = SECRETS
  for (const path of ['/login', '/api', '/session', '/user']) {
    for (let i = 0; i < 3; i++) {
      const headers = { 'x-api-key': header, cookie: `sid=${cookie}`, authorization: `Bearer ${SECRETS[3]}` }
      const attributes = { 'api-key': attribute, user: 'ada.lovelace' }
      await post(http, '/v1/check', { domain: 'shop', request: { path, ip: ADDRESS, headers, attributes } })
    }
  }
}

/** A log of refusals of a policy, as often as one likes. */
function refusing(policies = ['p']) {
  const lines: string[] = []
  let now = 1_000_000
  const { log } = createLog({ stream: { write: (line: string) => void lines.push(line) } })
  const refusals = new RefusalLog({ log, showKey: (key) => key, counts: () => true, now: () => now })
  const events = policies.map((policy) => {
    const events: Event[] = []
    const observe = (event: Event): void => void events.push(event)
    const limiter = createLimiter({
      policies: { [policy]: { algorithm: 'fixed-window', limit: 1, period: '1h' } },
      observe,
    })
    for (let i = 0; i < 2; i++) limiter.check('ada')
    return events[1]!
  })
  const refuse = (times: number): void => {
    for (let i = 0; i < times; i++) for (const event of events) refusals.observe(event)
  }
  const pass = (ms: number): void => {
    now += ms
  }
  return { lines, refusals, refuse, pass }
}

describe('refusals in the log', () => {
  test('acceptance 6.4: have key, policy, algorithm, limit, remaining and wait', async () => {
    const { service, lines } = await open({ refusals: 'plain' })
    await everyRule(service)
    const refused = read(lines).filter(({ msg }) => msg === 'refused')
    expect(refused).toHaveLength(8)
    expect(refused[0]).toMatchObject({
      level: 30,
      domain: 'shop',
      policy: 'login',
      algorithm: 'gcra',
      key: ADDRESS,
      limit: 1,
      remaining: 0,
      retryAfterMs: 60_000,
    })
    expect(refused[7]).toMatchObject({ policy: 'user', key: 'ada.lovelace' })
  })

  test('acceptance 6.4: of 100,000 in a second there are ten lines, and one with the exact count', () => {
    const { lines, refuse, refusals, pass } = refusing()
    refuse(100_000)
    expect(lines).toHaveLength(10)
    pass(999)
    refusals.tick()
    expect(lines).toHaveLength(10)
    pass(1)
    refusals.tick()
    expect(read(lines.slice(10))).toMatchObject([
      {
        refusals: 100_000,
        written: 10,
        policies: [{ policy: 'p', refusals: 100_000 }],
        msg: 'more requests were refused in this second than are written',
      },
    ])
    refuse(11) // the next second begins anew
    pass(1_000)
    refuse(1)
    expect(read(lines.slice(11)).map(({ msg, refusals }) => refusals ?? msg)).toEqual([
      ...Array.from({ length: 10 }, () => 'refused'),
      11,
      'refused',
    ])
    pass(1_000)
    refusals.tick()
    refusals.end()
    expect(lines).toHaveLength(23)
  })

  test('are a hundred lines in a second at most, of however many policies', () => {
    const { lines, refuse, refusals } = refusing(Array.from({ length: 40 }, (_, i) => `p${i}`))
    refuse(20)
    refusals.end()
    expect(lines).toHaveLength(101)
    const last = JSON.parse(lines[100]!)
    expect(last).toMatchObject({ refusals: 800, written: 100 })
    expect(last.policies).toHaveLength(10)
  })

  test('acceptance 6.4: no API key, cookie, address or user is in the log, unless it was chosen', async () => {
    const known = [...SECRETS, ADDRESS, 'ada.lovelace']
    const hashed = await open({ level: 'trace' })
    await everyRule(hashed.service)
    const text = hashed.lines.join('')
    expect(text.match(/"refused"/g)).toHaveLength(8)
    expect(known.filter((each) => text.includes(each))).toEqual([])
    const keys = read(hashed.lines).flatMap(({ msg, key }) => (msg === 'refused' ? [key] : []))
    expect(new Set(keys).size).toBe(4) // the two refusals of each client have one text
    expect(keys.every((key) => /^%h[0-9a-f]{32}$/.test(key))).toBe(true)

    const plain = await open({ level: 'trace', refusals: 'plain' })
    await everyRule(plain.service)
    expect(known.filter((each) => plain.lines.join('').includes(each))).toEqual([ADDRESS, 'ada.lovelace'])

    const off = await open({ refusals: 'off' })
    await everyRule(off.service)
    expect(off.lines.join('')).not.toContain('"refused"')
  })

  test('looking at a limit writes nothing', async () => {
    const { service, lines } = await open()
    const question = { domain: 'shop', request: { path: '/login', ip: ADDRESS } }
    await post(service.http, '/v1/check', question)
    for (let i = 0; i < 2; i++) await post(service.http, '/v1/check?peek', question)
    expect(lines.join('')).not.toContain('"refused"')
  })
})
