import { describe, expect, it } from 'vitest'
import { isAuthUrl, readAuthUrl } from './auth-target.ts'

describe('the path of a call to /auth', () => {
  it.each([
    ['/auth', {}],
    ['/auth?deny=403&domain=other', {}],
    ['/auth:deny=403', { deny: 403 }],
    ['/auth:domain=shop,deny=429?x=1', { domain: 'shop', deny: 429 }],
    ['/auth:domain=a%2Fb', { domain: 'a/b' }],
    ['/auth/', { original: '/' }],
    ['/auth/login?x=1', { original: '/login?x=1' }],
    ['/auth:deny=403/auth:deny=429', { deny: 403, original: '/auth:deny=429' }],
    ['/auth:domain=shop//a%2F../%zz?', { domain: 'shop', original: '//a%2F../%zz?' }],
    ['/auth:deny=403*', { deny: 403, original: '*' }],
    ['/auth*', { original: '*' }],
  ])('%s', (url, found) => {
    expect(isAuthUrl(url)).toBe(true)
    expect(readAuthUrl(url)).toEqual(found)
  })

  it.each(['/', '/authx', '/auth-x', '/v1/auth', '/auth%3Adeny=403', '/AUTH', 'http://h/auth'])(
    'is not %s',
    (url) => expect(isAuthUrl(url)).toBe(false),
  )

  it.each([
    ['/auth:deny=404', 'deny must be 403 or 429 in the path'],
    ['/auth:deny', 'deny must be 403 or 429 in the path'],
    ['/auth:dney=403', 'there is no setting "dney" in the path; did you mean deny?'],
    ['/auth:', undefined],
    ['/auth:,', 'there is no setting "" in the path; there are domain, deny'],
    ['/auth:status=403', 'there is no setting "status" in the path; there are domain, deny'],
    ['/auth:deny=403,deny=429/', 'deny is given twice in the path'],
    ['/auth:domain=%zz', 'a setting in the path cannot be decoded'],
  ])('with a mistake: %s', (url, message) => {
    if (message === undefined) expect(readAuthUrl(url)).toEqual({})
    else expect(() => readAuthUrl(url)).toThrow(message)
  })
})
