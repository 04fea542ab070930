import { afterAll, beforeAll, expect, test } from 'vitest'
import { bench, get, post, type ServiceBench } from './testing.ts'

let service: ServiceBench
beforeAll(async () => {
  service = await bench('domain: d\nlimits: [{ name: n, key: [], limit: 1/hour }]\n')
})
afterAll(() => service.close())

const BODY = { domain: 'd', request: {} }

test.each([
  ['/v1/chekc', 404],
  ['/', 404],
  ['/v1/check/', 404],
  ['/v1/rules', 404],
  ['/%zz', 400],
])('there is nothing at %s of the listener for those who ask', async (url, status) => {
  expect(await get(service.http, url)).toMatchObject({ status, body: { status, type: 'about:blank' } })
})

test('a wrong method is told the right ones', async () => {
  const { status, headers, body } = await get(service.http, '/v1/check')
  expect([status, headers.allow, body.detail]).toEqual([405, 'POST', '/v1/check takes POST'])
  const reset = await post(service.admin, '/v1/rules', {})
  expect([reset.status, reset.headers.allow]).toEqual([405, 'GET, HEAD'])
  for (const method of ['PUT', 'DELETE', 'OPTIONS'] as const) {
    expect((await service.http.inject({ method, url: '/v1/check' })).statusCode).toBe(405)
  }
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'multipart/form-data'])(
  'a body of %s is 415',
  async (type) => {
    const { status, body } = await post(service.http, '/v1/check', BODY, type)
    expect([status, body.detail]).toEqual([415, 'the body must be application/json'])
  },
)

test('a body without any type is 415', async () => {
  const answer = await service.http.inject({
    method: 'POST',
    url: '/v1/check',
    payload: JSON.stringify(BODY),
  })
  expect(answer.statusCode).toBe(415)
})

test('no body at all is 400', async () => {
  const answer = await service.http.inject({ method: 'POST', url: '/v1/check' })
  expect([answer.statusCode, answer.json().detail]).toEqual([400, 'the body must be an object'])
})

test('a charset may stand behind the type', async () => {
  expect((await post(service.http, '/v1/check', BODY, 'application/json; charset=utf-8')).status).toBe(200)
})

test('a fault of ours is 500: the log says how, the caller learns nothing, and nobody the key', async () => {
  const lines: string[] = []
  let broken = false
  const own = await bench('domain: d\nlimits: [{ name: n, key: [user], limit: 1/hour }]\n', {
    log: { stream: { write: (line) => void lines.push(line) } },
    wallClock() {
      if (broken) throw new Error('the inside of the service')
      return 0
    },
  })
  broken = true
  const request = { attributes: { user: 'ada@example.com' } }
  const single = await post(own.http, '/v1/check', { domain: 'd', request })
  const [item] = (await post(own.http, '/v1/check/batch', [{ domain: 'd', request }])).body
  for (const body of [single.body, item]) {
    expect(body).toMatchObject({ status: 500, detail: 'the service failed; its log says how' })
  }
  expect(lines.filter((line) => line.includes('the inside of the service'))).toHaveLength(2)
  expect(lines.join('')).not.toContain('ada@example.com')
  await own.close()
})
