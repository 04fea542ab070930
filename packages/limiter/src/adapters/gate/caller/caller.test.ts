import { describe, expect, it, vi } from 'vitest'
import { MemoryStore } from '../../../stores/memory.ts'
import { FakeClock } from '../../../testing.ts'
import { createGate } from '../gate.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { GateOptions } from '../options/options.ts'

type Options = GateOptions<[string]>

function incoming(more?: Partial<IncomingRequest<[string]>>): IncomingRequest<[string]> {
  return {
    args: ['native'],
    method: 'GET',
    url: '/',
    host: 'h',
    peer: '192.0.2.1',
    headers: {},
    request: {},
    ...more,
  }
}

const logger = () => ({ warn: vi.fn(), error: vi.fn() })

/** The key by which each request is counted. */
async function keysOf(
  options: Options,
  ...requests: Partial<IncomingRequest<[string]>>[]
): Promise<string[]> {
  const gate = createGate<[string]>({ limit: 100, period: '1m', validate: false, ...options })
  const keys: string[] = []
  for (const request of requests) keys.push((await gate.enter(incoming(request))).info.key)
  return keys
}

describe('trustProxy by name', () => {
  const forwarded = (peer: string): Partial<IncomingRequest<[string]>> => ({
    peer,
    headers: { 'x-forwarded-for': '198.51.100.9' },
  })

  it.each([
    ['loopback', ['127.0.0.1', '::1'], ['10.0.0.1']],
    ['linklocal', ['169.254.1.2', 'fe80::1'], ['127.0.0.1']],
    ['uniquelocal', ['10.1.2.3', '172.31.0.1', '192.168.4.4', 'fd00::1'], ['172.32.0.1']],
    [
      'cloudflare',
      ['173.245.48.9', '104.16.0.1', '104.27.255.255', '2400:cb00::1'],
      ['104.28.0.1', '10.0.0.1'],
    ],
    ['loopback, uniquelocal', ['127.0.0.1', '10.1.2.3'], ['169.254.1.2']],
  ])('%s', async (name, inside, outside) => {
    for (const trustProxy of [name, name.split(', ')]) {
      const keys = await keysOf({ trustProxy }, ...[...inside, ...outside].map(forwarded))
      expect(keys.slice(0, inside.length).every((key) => key === '198.51.100.9')).toBe(true)
      expect(keys.slice(inside.length)).toEqual(outside)
    }
  })

  it('mixes names with addresses and CIDRs', async () => {
    const trustProxy = ['cloudflare', '203.0.113.0/24']
    expect(await keysOf({ trustProxy }, forwarded('203.0.113.7'))).toEqual(['198.51.100.9'])
  })

  it.each([
    ['alb', 'trustProxy: alb has addresses of your own network: give the number of proxies, such as 1'],
    [['10.0.0.0/8', 'cloudfront'], 'trustProxy: cloudfront has addresses that change'],
    ['nginx', 'or loopback where it is the same one'],
    ['cloudfare', 'did you mean cloudflare?'],
    ['toString', 'trustProxy[0] must be loopback, linklocal, uniquelocal, cloudflare or an address or CIDR'],
  ])('%s says what to give', (trustProxy, message) => {
    expect(() => createGate({ limit: 1, period: '1m', trustProxy })).toThrow(message)
  })
})

describe('keys from parts', () => {
  it('are the parts that requests have, by name or from functions', async () => {
    const key: Options['key'] = ['ip', 'method', 'header:x-team', (native, address) => `${native}@${address}`]
    const request = { headers: { 'x-team': 'red' } }
    expect(await keysOf({ key }, request, { ...request, peer: '2001:db8::1' })).toEqual([
      '192.0.2.1 GET red native@192.0.2.1',
      '2001:db8::/64 GET red native@2001:db8::1',
    ])
  })

  it('are told apart, however a client cuts its texts', async () => {
    const gate = createGate<[string]>({ limit: 1, period: '1m', key: ['header:a', 'header:b'] })
    const allowed = async (a: string, b: string): Promise<boolean> =>
      (await gate.enter(incoming({ headers: { a, b } }))).info.decision.allowed
    expect([await allowed('x|y', 'z'), await allowed('x', 'y|z'), await allowed('x y', 'z')]).toEqual([
      true,
      true,
      true,
    ])
    expect([await allowed('x', 'y z'), await allowed('x', 'y|z')]).toEqual([true, false])
  })

  it('hold no credentials and no long text, only their hashes', async () => {
    const long = 'x'.repeat(5_000)
    const [key] = await keysOf(
      { key: ['header:authorization', 'cookie:session', 'header:x-long'] },
      { headers: { authorization: 'Bearer s3cret', cookie: 'session=s3cret', 'x-long': long } },
    )
    expect(key).toMatch(/^(%h[0-9a-f]{32} ?){3}$/)
  })

  it('count a request that lacks one as onMissingKey says', async () => {
    const key: Options['key'] = ['ip', 'header:x-team']
    expect(await keysOf({ key }, {})).toEqual(['192.0.2.1'])
    const gate = createGate<[string]>({ limit: 1, period: '1m', key, onMissingKey: 'deny' })
    expect((await gate.enter(incoming())).refusal).toMatchObject({ status: 429 })
    expect(await keysOf({ key: [() => '', 'ip'], onMissingKey: 'share' }, {})).toEqual([''])
  })

  it('read attributes, which only the application knows', async () => {
    const attributes = async (): Promise<{ user: string; tenant: number }> => ({ user: 'ada', tenant: 7 })
    expect(await keysOf({ key: ['tenant', 'user|fold'], attributes }, {})).toEqual(['7 ada'])
    expect(() => createGate({ limit: 1, period: '1m', key: ['ip', 'user'] })).toThrow(
      'key: only the application knows user: give attributes',
    )
    expect(() => createGate({ limit: 1, period: '1m', attributes: () => ({}) })).toThrow(
      'attributes has no effect beside limit, unless key is a list of parts',
    )
  })

  it('take the prefixes of the options, or their own', async () => {
    const peer = { peer: '2001:db8:1:2:3:4:5:6' }
    expect(await keysOf({ key: ['ip'], ipv6Subnet: 48 }, peer)).toEqual(['2001:db8:1::/48'])
    expect(await keysOf({ key: ['ip/56'], ipv6Subnet: 48 }, peer)).toEqual(['2001:db8:1::/56'])
  })

  it.each([
    [[], 'key must list one part at least'],
    [['ipp'], 'key[0]: "ipp" is no part of a key; there are ip, '],
    [[3], 'key[0] must be text or a function, not 3'],
    ['ip', 'key must be a function of the request or a list of names such as ip and header:x-user'],
  ])('%j says what to give', (key, message) => {
    expect(() => createGate({ limit: 1, period: '1m', key: key as never })).toThrow(message)
  })

  it('fail a request whose function gives what is no part, and refuse one that cannot be read', async () => {
    const gate = createGate<[string]>({ limit: 1, period: '1m', key: [(() => ({})) as never] })
    await expect(gate.enter(incoming())).rejects.toThrow('key[0] must give a string or a number, not object')
    const named = createGate<[string]>({ limit: 1, period: '1m', key: ['method'] })
    const { refusal } = await named.enter(incoming({ method: 'G E T' }))
    expect(refusal).toMatchObject({ status: 400, text: expect.stringContaining('one method') })
  })

  it('do not go with policies that name fields', () => {
    const policies = { a: { limit: 1, period: '1m', key: 'user' } } as const
    expect(() => createGate({ policies, key: ['ip'] })).toThrow('give key as a function that gives an object')
  })
})

describe('the client’s address', () => {
  it('is given to functions of the key, past the proxies', async () => {
    const key = vi.fn((_native: string, address: string | undefined) => address)
    const request = { headers: { 'x-forwarded-for': '198.51.100.9, 203.0.113.5' } }
    expect(await keysOf({ key, trustProxy: 1 }, request)).toEqual(['203.0.113.5'])
    expect(await keysOf({ keyGenerator: key }, request, { peer: '::ffff:192.0.2.7' })).toEqual([
      '192.0.2.1',
      '192.0.2.7',
    ])
    expect(await keysOf({ key: (_, address) => `${address}` }, { peer: undefined })).toEqual(['undefined'])
  })
})

describe('whole IPv6 addresses as keys', () => {
  it('are warned of, once', async () => {
    const log = logger()
    const key = (_: string, address: string | undefined): string | undefined => address
    const gate = createGate<[string]>({ limit: 9, period: '1m', key, logger: log })
    for (const peer of ['192.0.2.1', '2001:db8::1', '2001:db8::2']) await gate.enter(incoming({ peer }))
    expect(log.warn).toHaveBeenCalledTimes(1)
    expect(log.warn.mock.calls[0]![0]).toMatch(/whole IPv6 addresses.*ipKey\(address\).*#callers-and-keys/)
  })

  it.each<[string, Options]>([
    ['by their networks', { key: () => '2001:db8::/64' }],
    ['as text of one’s own', { key: () => 'user:2001' }],
    ['where validate is off', { key: () => '2001:db8::1', validate: false }],
    ['where that warning is off', { key: () => '2001:db8::1', validate: { keyGeneratorIpFallback: false } }],
  ])('are fine %s', async (_, options) => {
    const log = logger()
    const gate = createGate<[string]>({ limit: 9, period: '1m', logger: log, ...options })
    await gate.enter(incoming())
    expect(log.warn).not.toHaveBeenCalled()
  })
})

describe('clock', () => {
  it('is that of the counters in this process, and of dates in headers', async () => {
    const clock = new FakeClock()
    const gate = createGate<[string]>({ limit: 1, period: '1m', clock, dialect: 'x-ratelimit-epoch' })
    const ask = async () => gate.enter(incoming())
    const resetOf = async (): Promise<string> =>
      (await ask()).headers().find(([name]) => name === 'X-RateLimit-Reset')![1]
    const start = clock.now() / 1_000_000
    expect(await resetOf()).toBe(`${start + 60}`)
    expect((await ask()).refusal?.status).toBe(429)
    clock.advance(60_000)
    expect(await resetOf()).toBe(`${start + 120}`)
  })

  it('has no effect where counters are elsewhere', () => {
    const clock = new FakeClock()
    const store = new MemoryStore()
    expect(() => createGate({ limit: 1, period: '1m', name: 'n', store, clock })).toThrow(
      'clock has no effect beside store, which has a clock of its own',
    )
    expect(() => createGate({ limit: 1, period: '1m', clock: Date as never })).toThrow(
      'clock must be a clock',
    )
  })
})
