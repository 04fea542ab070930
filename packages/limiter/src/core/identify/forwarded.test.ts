import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { clientAddress } from './forwarded.ts'

describe('without proxies', () => {
  it('FB-061: the header is never read', () => {
    expect(clientAddress({})('192.0.2.1', '6.6.6.6')).toBe('192.0.2.1')
    expect(clientAddress({ hops: 0 })('192.0.2.1', '6.6.6.6')).toBe('192.0.2.1')
    expect(clientAddress({ trusted: [] })('192.0.2.1', '6.6.6.6')).toBe('192.0.2.1')
  })

  it('there may be no address at all', () => {
    expect(clientAddress({})(undefined, undefined)).toBeUndefined()
    expect(clientAddress({})('/run/app.sock', undefined)).toBeUndefined()
  })
})

describe('behind trusted proxies', () => {
  const client = clientAddress({ trusted: ['10.0.0.0/8', '2001:db8::/32'] })

  it('the client is the last one who is no proxy', () => {
    expect(client('10.0.0.1', '203.0.113.7')).toBe('203.0.113.7')
    expect(client('10.0.0.1', '203.0.113.7, 10.0.0.9,2001:db8::1')).toBe('203.0.113.7')
    expect(client('::ffff:10.0.0.1', '203.0.113.7')).toBe('203.0.113.7')
  })

  it('FB-061: what the client wrote itself makes no difference', () => {
    const clients = Array.from({ length: 100 }, (_, i) => client('10.0.0.1', `6.6.6.${i}, 203.0.113.7`))
    expect(new Set(clients)).toEqual(new Set(['203.0.113.7']))
  })

  it('FB-061: a stranger’s header is not read', () => {
    expect(client('198.51.100.1', '6.6.6.6')).toBe('198.51.100.1')
  })

  it('reading stops at garbage, with the last good hop', () => {
    expect(client('10.0.0.1', '203.0.113.7, unknown, 10.0.0.9')).toBe('10.0.0.9')
    expect(client('10.0.0.1', '203.0.113.7,,')).toBe('10.0.0.1')
    expect(client('10.0.0.1', '')).toBe('10.0.0.1')
  })

  it('a request from a proxy itself is the outermost proxy’s', () => {
    expect(client('10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3')
  })

  it('ports and IPv6 are read as they come', () => {
    expect(client('10.0.0.1', '203.0.113.7:4711')).toBe('203.0.113.7')
    expect(client('10.0.0.1', '[2001:DB9::1]:4711')).toBe('2001:db9::1')
  })
})

describe('behind so many hops', () => {
  it('the client is who the outermost of them saw', () => {
    expect(clientAddress({ hops: 1 })('10.0.0.1', '6.6.6.6, 203.0.113.7')).toBe('203.0.113.7')
    expect(clientAddress({ hops: 2 })('10.0.0.1', '6.6.6.6, 203.0.113.7, 10.0.0.2')).toBe('203.0.113.7')
  })

  it('fewer hops than there should be: the peer counts', () => {
    expect(clientAddress({ hops: 2 })('198.51.100.1', '6.6.6.6')).toBe('198.51.100.1')
    expect(clientAddress({ hops: 1 })('198.51.100.1', undefined)).toBe('198.51.100.1')
  })

  it('garbage within them: the last good hop counts', () => {
    expect(clientAddress({ hops: 2 })('10.0.0.1', 'unknown, 10.0.0.2')).toBe('10.0.0.2')
  })

  it('the proxy may sit on a socket without an address', () => {
    expect(clientAddress({ hops: 1 })(undefined, '203.0.113.7')).toBe('203.0.113.7')
  })
})

describe('the Forwarded header', () => {
  const client = clientAddress({ header: 'forwarded', trusted: ['10.0.0.0/8'] })

  it.each([
    ['for=192.0.2.43', '192.0.2.43'],
    ['For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['for="192.0.2.43:47011";proto=https;by=203.0.113.43', '192.0.2.43'],
    ['proto=http; FOR=192.0.2.43 , for=10.0.0.2', '192.0.2.43'],
    ['for=192.0.2.43, for="_gazonk"', '10.0.0.1'],
    ['for=192.0.2.43, for=unknown, for=10.0.0.2', '10.0.0.2'],
    ['for=192.0.2.43, proto=https', '10.0.0.1'],
    ['for=192.0.2.43;for=192.0.2.44', '10.0.0.1'],
    ['for=192.0.2.43, for=', '10.0.0.1'],
  ])('%s', (header, address) => {
    expect(client('10.0.0.1', header)).toBe(address)
  })

  it.each([
    'for=", for=192.0.2.43',
    'for=6.6.6.6;a=", for=192.0.2.43',
    'for=6.6.6.6;a="x, for="192.0.2.43:80"',
    'for=6.6.6.6;a=", for=192.0.2.43;host="x\\\\"',
    'for=6.6.6.6;a=", for=192.0.2.43;host="x\\""',
    'for=6.6.6.6, for=192.0.2.43;host="x;for=6.6.6.6;y, for=6.6.6.6"',
  ])('a quote left open swallows nothing: %s', (header) => {
    expect(client('10.0.0.1', header)).toBe('192.0.2.43')
  })
})

it.each([{ hops: 1, trusted: ['10.0.0.0/8'] }, { hops: -1 }, { hops: 1.5 }, { trusted: ['10.0.0.0/33'] }])(
  '%j is refused',
  (proxies) => {
    expect(() => clientAddress(proxies)).toThrow(ConfigError)
  },
)

it('OF-43: a hundred entries of trusted proxies are read, however many a client sends', () => {
  const addressOf = clientAddress({ trusted: ['10.0.0.0/8'] })
  const chain = Array.from({ length: 1_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  expect(addressOf('10.9.9.9', chain.join(', '))).toBe('10.0.3.132')
})
