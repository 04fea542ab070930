import { describe, expect, it } from 'vitest'
import { readRedisUrl } from './redis-url.ts'

const none = { tls: false, master: '', db: 0 }

describe('the URL of a Redis', () => {
  it.each([
    ['redis://cache', { ...none, kind: 'single', hosts: [{ host: 'cache', port: 6_379 }] }],
    ['redis://127.0.0.1:7000/', { ...none, kind: 'single', hosts: [{ host: '127.0.0.1', port: 7_000 }] }],
    [
      'rediss://ada:p%40ss@[::1]:7000/3',
      {
        ...none,
        tls: true,
        kind: 'single',
        hosts: [{ host: '::1', port: 7_000 }],
        db: 3,
        username: 'ada',
        password: 'p@ss',
      },
    ],
    [
      'redis://:secret@cache',
      { ...none, kind: 'single', hosts: [{ host: 'cache', port: 6_379 }], password: 'secret' },
    ],
    [
      'redis+sentinel://a,b:26380/main/2',
      {
        ...none,
        kind: 'sentinel',
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_380 },
        ],
        master: 'main',
        db: 2,
      },
    ],
    [
      'rediss+cluster://a:7000,b:7001',
      {
        ...none,
        tls: true,
        kind: 'cluster',
        hosts: [
          { host: 'a', port: 7_000 },
          { host: 'b', port: 7_001 },
        ],
      },
    ],
  ])('%s is read', (url, address) => {
    expect(readRedisUrl(url)).toEqual(address)
  })

  it.each([
    'memry',
    'redis:/cache',
    'redis://',
    'redis://a,b',
    'redis://a:99999',
    'redis://a/x',
    'redis://a/1/2',
    'redis://a?db=1',
    'redis://:%zz@a',
    'redis+sentinel://a',
    'redis+cluster://a/1',
    'redis+ring://a',
  ])('%s is none', (url) => {
    expect(readRedisUrl(url)).toBeUndefined()
  })
})
