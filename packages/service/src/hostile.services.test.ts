import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService, type Service } from './service.ts'
import { type RulesFolder, rulesFolder } from './testing.ts'

let service: Service
let folder: RulesFolder
let urls: { readonly http: string; readonly admin: string }
beforeAll(async () => {
  folder = await rulesFolder({ 'rules.yaml': 'domain: d\nlimits: [{ name: n, key: [], limit: 9/hour }]\n' })
  service = createService({
    rules: [folder.path],
    watch: false,
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    adminHosts: ['admin.internal'],
    log: { level: 'silent' },
  })
  urls = await service.start()
})
afterAll(async () => {
  await service.stop()
  await folder.remove()
})

interface Raw {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends lines as they are, joined by CRLF, and reads until the listener closes. */
function raw(listener: 'http' | 'admin', lines: readonly string[]): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(urls[listener]).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head, body })
    })
    socket.write(lines.join('\r\n'), 'latin1')
  })
}

/** A request that is right but for what a case adds or changes. */
function post(path: string, body: string, ...headers: string[]): string[] {
  const named = (name: string): boolean => headers.some((each) => each.toLowerCase().startsWith(`${name}:`))
  return [
    `POST ${path} HTTP/1.1`,
    ...(named('host') ? [] : ['Host: localhost']),
    ...(named('content-type') ? [] : ['Content-Type: application/json']),
    ...(named('content-length') || named('transfer-encoding')
      ? []
      : [`Content-Length: ${Buffer.byteLength(body)}`]),
    'Connection: close',
    ...headers,
    '',
    body,
  ]
}

const PATHS = { http: '/v1/check', admin: '/v1/reset' } as const
const BODY = '{"domain":"d","request":{}}'
const without = (name: string, lines: string[]): string[] =>
  lines.filter((line) => !line.toLowerCase().startsWith(`${name}:`))

/** What a hostile or broken client may send, to any call that takes a body, and the status that it gets. */
const HOSTILE: readonly (readonly [what: string, status: number, lines: (path: string) => string[]])[] = [
  ['two Host fields', 400, (path) => post(path, BODY, 'Host: localhost', 'Host: localhost')],
  ['two Host fields that differ', 400, (path) => post(path, BODY, 'Host: localhost', 'hOST: evil.example')],
  ['no Host', 400, (path) => without('host', post(path, BODY))],
  ['a Host that is none', 400, (path) => post(path, BODY, 'Host: a b')],
  ['a list of hosts', 400, (path) => post(path, BODY, 'Host: a.example, b.example')],
  ['a Host with a user', 400, (path) => post(path, BODY, 'Host: localhost@evil.example')],
  ['Expect: junk', 417, (path) => post(path, BODY, 'Expect: junk')],
  ['Content-Encoding: gzip', 415, (path) => post(path, BODY, 'Content-Encoding: gzip')],
  ['two content encodings', 415, (path) => post(path, BODY, 'Content-Encoding: identity, br')],
  ['charset=utf-16', 415, (path) => post(path, BODY, 'Content-Type: application/json; charset=utf-16')],
  ['a quoted charset', 415, (path) => post(path, BODY, 'Content-Type: application/json;charset="utf-16le"')],
  [
    'two charsets',
    415,
    (path) => post(path, BODY, 'Content-Type: application/json; charset=utf-8; charset=utf-7'),
  ],
  [
    'two content types',
    400,
    (path) => post(path, BODY, 'Content-Type: application/json', 'Content-Type: text/plain'),
  ],
  ['a form', 415, (path) => post(path, 'domain=d', 'Content-Type: application/x-www-form-urlencoded')],
  ['text', 415, (path) => post(path, BODY, 'Content-Type: text/plain')],
  ['a name twice', 400, (path) => post(path, '{"domain":"d","domain":"e","request":{}}')],
  [
    'a name twice, spelt in two ways',
    400,
    (path) => post(path, '{"domain":"d","d\\u006fmain":"e","request":{}}'),
  ],
  ['a name twice, deep', 400, (path) => post(path, '{"domain":"d","request":{"headers":{"a":"1","a":"2"}}}')],
  [
    'a name twice in a list',
    400,
    (path) => post(path, '{"domain":"d","descriptors":[{},{"cost":1,"cost":0}]}'),
  ],
  ['no JSON', 400, (path) => post(path, '{"domain":')],
  ['nothing', 400, (path) => post(path, '')],
  ['bytes that are no UTF-8', 400, (path) => post(path, '{"domain":"\xff"}', 'Content-Length: 14')],
  ['two lengths', 400, (path) => post(path, BODY, 'Content-Length: 27', 'Content-Length: 28')],
  [
    'a length and chunks',
    400,
    (path) => post(path, BODY, 'Content-Length: 27', 'Transfer-Encoding: chunked'),
  ],
  ['a broken chunk', 400, (path) => post(path, 'zz\r\n', 'Transfer-Encoding: chunked')],
  ['a bare line feed in a header', 400, (path) => post(path, BODY, 'X-A: a\nX-B: b')],
  ['a NUL in a header', 400, (path) => post(path, BODY, 'X-A: a\0b')],
  ['headers above 16 KiB', 431, (path) => post(path, BODY, `X-A: ${'a'.repeat(17_000)}`)],
  ['a body above 256 KiB', 413, (path) => post(path, `"${'a'.repeat(262_144)}"`)],
  ['no HTTP', 400, () => ['hello', '', '']],
  ['HTTP/2', 400, () => ['PRI * HTTP/2.0', '', 'SM', '', '']],
  ['CONNECT', 405, () => ['CONNECT evil.example:80 HTTP/1.1', 'Host: evil.example:80', '', '']],
  ['a path that cannot be decoded', 400, () => post('/%zz', BODY)],
  ['an unknown path', 404, () => post('/v1/nothing', BODY)],
  ...['DELETE', 'PROPFIND', 'TRACE'].map(
    (method) =>
      [
        method,
        405,
        (path: string) => [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', '', ''],
      ] as const,
  ),
]

describe.each(['http', 'admin'] as const)('OF-63 the %s listener answers with a problem', (listener) => {
  test.each(HOSTILE)('%s: %i', async (_, status, lines) => {
    const answer = await raw(listener, lines(PATHS[listener]))
    expect(answer.head.toLowerCase()).toContain('\r\ncontent-type: application/problem+json')
    const { detail, ...problem } = JSON.parse(answer.body)
    expect([answer.status, problem.status, problem.type]).toEqual([status, status, 'about:blank'])
    expect(detail).not.toBe('')
  })

  test('and takes what is right', async () => {
    for (const headers of [
      [],
      ['Content-Encoding: identity'],
      ['Content-Type: application/json; charset="UTF-8"'],
      ['Expect: 100-continue'],
    ]) {
      const { head } = await raw(listener, post(PATHS[listener], BODY, ...headers))
      expect(head.match(/^HTTP\/1.1 (?:100 Continue|200 OK)$/m), head).not.toBeNull()
    }
  })
})

describe('OF-64 the admin address', () => {
  const reload = (...headers: string[]): Promise<Raw> => raw('admin', post('/v1/reload', '', ...headers))
  const rules = (...headers: string[]): Promise<Raw> =>
    raw('admin', ['GET /v1/rules HTTP/1.1', ...headers, 'Connection: close', '', ''])

  test.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '192.0.2.1',
    '',
    'admin.internal.',
  ])('refuses the host %j, whatever is asked', async (host) => {
    const own = host === 'admin.internal.'
    for (const path of ['/v1/rules', '/metrics', '/readyz', '/healthz', '/nothing']) {
      const { status } = await raw('admin', [
        `GET ${path} HTTP/1.1`,
        `Host: ${host}`,
        'Connection: close',
        '',
        '',
      ])
      expect(status).toBe(own ? (path === '/nothing' ? 404 : 200) : 421)
    }
    expect((await reload(`Host: ${host}:80`)).status).toBe(own ? 200 : 421)
  })

  test.each(['localhost', 'LOCALHOST:6070', '127.0.0.1', '127.0.0.1:1', '[::1]:6070', 'admin.internal'])(
    'knows itself as %s',
    async (host) => {
      expect((await rules(`Host: ${host}`)).status).toBe(200)
      expect((await reload(`Host: ${host}`)).status).toBe(200)
    },
  )

  test('takes pages of its own name behind a proxy that speaks TLS', async () => {
    expect((await reload('Host: admin.internal', 'Origin: https://admin.internal')).status).toBe(200)
  })

  test.each(['http://evil.example', 'null', 'http://localhost:1', 'https://localhost'])(
    'refuses pages of %s',
    async (origin) => {
      expect((await reload(`Origin: ${origin}`)).status).toBe(403)
      expect((await rules('Host: localhost', `Origin: ${origin}`)).status).toBe(403)
    },
  )

  test('takes pages of its own', async () => {
    expect((await reload('Host: localhost:6070', 'Origin: http://localhost:6070')).status).toBe(200)
  })

  test.each([
    'Content-Type: text/plain',
    'Content-Type: multipart/form-data',
    'Content-Type:',
    'Content-Type: application/jsonp',
  ])('changes nothing for %s, which a form can send', async (type) => {
    expect((await reload(type)).status).toBe(415)
    expect((await raw('admin', without('content-type', post('/v1/reset', BODY)))).status).toBe(415)
  })

  test('OF-65 reloads for a JSON type without a body, or with one', async () => {
    for (const body of ['', '{}']) {
      const { status, body: said } = await raw('admin', post('/v1/reload', body))
      expect([status, JSON.parse(said).result]).toEqual([200, 'unchanged'])
    }
  })
})
