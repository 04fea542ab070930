import { describe, expect, it } from 'vitest'
import { isOwnTarget } from './own-target.ts'
import { hasKeys, originOf, requestMaker } from './request-template.ts'

describe('a template', () => {
  it('has the key in the path, in the query, in headers and in the body', () => {
    const make = requestMaker({
      url: 'http://127.0.0.1:3000/users/{key}?k={key}',
      headers: { 'x-key': '{key}' },
      body: '{"user":"{key}"}',
    })
    expect(make('a"/b')).toEqual({
      method: 'POST',
      path: '/users/a%22%2Fb?k=a%22%2Fb',
      headers: { 'content-type': 'application/json', 'x-key': 'a"/b' },
      body: '{"user":"a\\"/b"}',
      from: undefined,
    })
  })

  it('gives each key an address of its own, and keeps it', () => {
    const make = requestMaker({ url: 'http://127.0.0.1:3000/', ownAddresses: true })
    const addresses = Array.from({ length: 1_000 }, (_, i) => make(`${i}`).from)
    expect(new Set(addresses).size).toBe(1_000)
    expect(make('0').from).toBe(addresses[0])
    expect(addresses.every((each) => /^127\.1\.\d+\.\d+$/.test(each!))).toBe(true)
  })

  it('knows whether keys differ, and whom it asks', () => {
    expect(hasKeys({ url: 'http://127.0.0.1/' })).toBe(false)
    expect(hasKeys({ url: 'http://127.0.0.1/', headers: { a: 'b{key}' } })).toBe(true)
    expect(originOf({ url: 'http://127.0.0.1:81/{key}' })).toBe('http://127.0.0.1:81')
  })
})

describe('Acceptance 14.4: a load', () => {
  it.each(['http://127.0.0.1/', 'http://127.9.9.9:80/a', 'http://localhost:1/', 'http://[::1]:1/'])(
    'goes to %s',
    (url) => {
      expect(isOwnTarget(url, [])).toBe(true)
    },
  )

  it.each(['http://example.com/', 'http://127.0.0.1.example.com/', 'http://128.0.0.1/', 'http://0.0.0.0/'])(
    'does not go to %s, unless it is said to be one’s own',
    (url) => {
      expect(isOwnTarget(url, [])).toBe(false)
      expect(isOwnTarget(url, [new URL(url).hostname])).toBe(true)
    },
  )
})
