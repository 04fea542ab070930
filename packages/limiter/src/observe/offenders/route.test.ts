import { describe, expect, test } from 'vitest'
import { routeOf, routeReader } from './route.ts'

describe('a route', () => {
  test.each<[string | undefined, string, string]>([
    ['GET', '/', 'GET /'],
    ['POST', '/login', 'POST /login'],
    [undefined, '/login', '/login'],
    ['GET', '/v2/users/12345/orders', 'GET /v2/users/:id/orders'],
    ['GET', '/users/3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'GET /users/:id'],
    ['GET', '/users/12', 'GET /users/:id'],
    ['GET', '/users/ada@example.com', 'GET /users/:id'],
    ['GET', '/reset/dGhpcyBpcyBhIHRva2Vu', 'GET /reset/:id'],
    ['GET', '/reset/a3f9c1d2e4b5', 'GET /reset/:id'],
    ['GET', '/images/ksclogo-medium.gif', 'GET /images/ksclogo-medium.gif'],
    ['GET', '/files/%2e%2e', 'GET /files/:id'],
    ['GET', '/a/b/c/d/e/f/g', 'GET /a/b/c/d/e/…'],
    [
      'GET',
      '/shuttle/missions/sts-71/mission-sts-71.html',
      'GET /shuttle/missions/sts-71/mission-sts-71.html',
    ],
    ['a method\n', '/login', '/login'],
    ['GET', '*', 'GET /:id'],
    ['GET', '/line\nbreak', 'GET /:id'],
  ])('%s %s is %s', (method, path, route) => {
    expect(routeOf(method, path)).toBe(route)
    const read = routeReader()
    expect([read(method, path), read(method, path)]).toEqual([route, route])
  })

  test('is short, whatever a client sends', () => {
    for (const path of [
      `/${'a'.repeat(100_000)}`,
      '/a'.repeat(100_000),
      '/'.repeat(100_000),
      `/${'1'.repeat(300)}`,
    ])
      expect(routeOf('GET', path)!.length).toBeLessThan(5 * 33 + 20)
  })

  test('is none without a path', () => {
    expect(routeOf('GET', undefined)).toBeUndefined()
    expect(routeReader()('GET', undefined)).toBeUndefined()
  })

  test('is right after more paths than are remembered', () => {
    const read = routeReader()
    for (let i = 0; i < 2_000; i++) expect(read('GET', `/a/${i}00`)).toBe('GET /a/:id')
  })
})
