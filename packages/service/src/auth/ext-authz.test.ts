import { afterEach, describe, expect, test } from 'vitest'
import { type GrpcBench, grpcBench } from '../grpc/calls.test-support.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { method: POST, path: /login, host: shop.example }, key: [ip], limit: 2/minute }
  - { name: plan, key: [tenant], limit: { by: plan, free: 1/hour, otherwise: 9/hour } }
  - { name: model, key: ["header:x-model"], limit: 8/hour, on_missing_key: skip }
  - { name: slow, key: ["query:q"], limit: 1/hour, on_limit: deprioritize }
`

let service: GrpcBench
afterEach(() => service.close())

const pairs = (map: Readonly<Record<string, string>>) =>
  Object.entries(map).map(([key, value]) => ({ key, value }))

interface Asked {
  readonly http?: object
  readonly ip?: string
  readonly extensions?: Readonly<Record<string, string>>
}

const LOGIN = { method: 'POST', path: '/login?next=/', host: 'shop.example:443' }

async function ask({ http = LOGIN, ip = '203.0.113.9', extensions = {} }: Asked = {}) {
  const source = { address: { socket_address: { address: ip, port_value: 4711 } } }
  const attributes = { source, request: { http }, context_extensions: pairs(extensions) }
  const answer = await service.call('envoy.service.auth.v3.Authorization', 'Check', { attributes })
  const told = answer.denied_response?.headers ?? answer.ok_response?.response_headers_to_add ?? []
  const headers = Object.fromEntries(
    told.map(
      ({
        header,
        append_action: action,
      }: {
        header: { key: string; value: string }
        append_action: string
      }) => {
        expect(action).toBe('OVERWRITE_IF_EXISTS_OR_ADD')
        return [header.key.toLowerCase(), header.value]
      },
    ),
  )
  return { ...answer, told: headers }
}

describe('Authorization/Check', () => {
  test('admits with limit headers for the client, and refuses with status, headers and a problem', async () => {
    service = await grpcBench(RULES)
    const admitted = await ask()
    expect(admitted.status.code).toBe(0)
    expect(admitted.denied_response).toBeUndefined()
    expect(admitted.told).toMatchObject({ ratelimit: '"login";r=1;t=30' })
    expect(admitted.ok_response.headers_to_remove).toEqual(['Sluice-Priority'])
    await ask()
    const refused = await ask()
    expect(refused.status.code).toBe(8)
    expect(refused.denied_response.status.code).toBe('TooManyRequests')
    expect(refused.told).toMatchObject({
      'retry-after': '30',
      'cache-control': 'no-store',
      'content-type': 'application/problem+json',
    })
    expect(JSON.parse(refused.denied_response.body)).toMatchObject({
      status: 429,
      'violated-policies': ['login'],
    })
    expect((await ask({ ip: '203.0.113.10' })).status.code).toBe(0)
  })

  test('takes the domain and attributes from context_extensions, which the proxy’s configuration sets', async () => {
    service = await grpcBench(RULES)
    const http = { path: '/', host: 'a' }
    const extensions = { domain: 'shop', tenant: 'acme', plan: 'free' }
    expect((await ask({ http, extensions })).told).toMatchObject({ ratelimit: '"plan";r=0;t=3600' })
    expect((await ask({ http, extensions })).status.code).toBe(8)
    await expect(ask({ http, extensions: { domain: 'other' } })).rejects.toMatchObject({ code: 5 })
  })

  test('needs a domain where there are several', async () => {
    service = await grpcBench(RULES)
    await service.folder.write('two.yaml', 'domain: two\nlimits: [{ name: n, key: [], limit: 1/hour }]\n')
    await service.rules.reload()
    await expect(ask()).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('context_extensions'),
    })
  })

  test.each([
    ['as text', { headers: pairs({ 'x-model': 'large' }) }],
    ['as bytes', { header_map: { headers: [{ key: 'X-Model', raw_value: Buffer.from('large') }] } }],
  ])('reads headers %s', async (_name, more) => {
    service = await grpcBench(RULES)
    const answer = await ask({ http: { path: '/', host: 'a', ...more } })
    expect(answer.told).toMatchObject({ ratelimit: '"model";r=7;t=450' })
  })

  test('says what the next hop is to see, in place of what the client sent', async () => {
    service = await grpcBench(RULES)
    const http = { path: '/?q=1', host: 'a' }
    await ask({ http })
    const low = await ask({ http })
    expect(low.status.code).toBe(0)
    expect(low.ok_response.headers).toMatchObject([{ header: { key: 'Sluice-Priority', value: 'low' } }])
    expect(low.ok_response.headers_to_remove).toEqual([])
  })

  test('refuses what cannot be decided with 400; without a request of HTTP it is no question', async () => {
    service = await grpcBench(RULES)
    const odd = await ask({ ip: 'nowhere' })
    expect(odd.denied_response.status.code).toBe('BadRequest')
    expect(odd.status.code).toBe(3)
    await expect(service.call('envoy.service.auth.v3.Authorization', 'Check', {})).rejects.toMatchObject({
      code: 3,
      details: 'the request has no attributes.request.http',
    })
  })
})
