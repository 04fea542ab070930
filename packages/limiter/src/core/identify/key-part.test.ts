import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Request } from '../request.ts'
import { Facts } from './facts.ts'
import { parsePart } from './key-part.ts'

const request: Request = {
  method: 'post',
  path: '/Users//7/',
  host: 'API.example.com:443',
  ip: '203.0.113.7',
  headers: { 'x-model': ' large ', cookie: 'sid=abc' },
  query: { q: 'x', empty: '' },
  attributes: {
    user: 'ann',
    tenant: 7,
    'api-key': 'sk-1',
    route: '/users/:id',
    'param:id': 'given',
    name: ' Ren\u00e9',
  },
}

function read(
  text: string,
  from: Request = request,
  params: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  return parsePart(text).read(new Facts(from, true), params)
}

describe('a part of a key', () => {
  it.each([
    ['ip', '203.0.113.7'],
    ['ip/24', '203.0.113.0/24'],
    ['ip/56', '203.0.113.7'],
    ['user', 'ann'],
    ['tenant', '7'],
    ['api-key', 'sk-1'],
    ['route', '/users/:id'],
    ['header:X-Model', 'large'],
    ['cookie:sid', 'abc'],
    ['query:q', 'x'],
    ['query:empty', ''],
    ['path', '/users/7'],
    ['method', 'POST'],
    ['host', 'api.example.com'],
    ['attribute:name', ' Ren\u00e9'],
    ['attribute:name|fold', 'ren\u00e9'],
    ['user|fold', 'ann'],
    ['param:id', 'given'],
    ['attribute:none', undefined],
    ['header:__proto__', undefined],
  ])('%s reads %j', (text, value) => {
    expect(read(text)).toBe(value)
  })

  it('ip takes a prefix for either version, or both', () => {
    const v6 = { ip: '2001:db8:1234:5678::9' }
    expect(read('ip', v6)).toBe('2001:db8:1234:5678::/64')
    expect(read('ip/24', v6)).toBe('2001:db8:1234:5678::/64')
    expect(read('ip/56', v6)).toBe('2001:db8:1234:5600::/56')
    expect(read('ip/24/48', v6)).toBe('2001:db8:1234::/48')
    expect(read('ip/24/48')).toBe('203.0.113.0/24')
    expect(read('ip', {})).toBeUndefined()
  })

  it('param prefers the rule’s own path', () => {
    expect(read('param:id', request, new Map([['id', '7']]))).toBe('7')
  })

  it('only keys and cookies are secret', () => {
    expect(['api-key', 'cookie:a', 'user', 'header:a'].map((text) => parsePart(text).secret)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it.each([
    '',
    'ip/',
    'ip/0',
    'ip/129',
    'ip/33/64',
    'ip/24/129',
    'ip/24/48/1',
    'ip:a',
    'ip|fold',
    'path|fold',
    'api-key|fold',
    'user|Fold',
    'user/24',
    'user:a',
    'header',
    'header:',
    'header:a b',
    'cookie:a;b',
    'attribute:',
    'usr',
    'toString',
    '__proto__',
    'attribute',
    'IP',
  ])('%j is refused', (text) => {
    expect(() => parsePart(text)).toThrow(ConfigError)
  })
})
