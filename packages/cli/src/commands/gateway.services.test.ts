import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { runLine } from '../testing.ts'

const BIN = resolve('packages/cli/bin/sluice.js')
const RULES = `domain: paid
limits:
  - name: calls
    key: [attribute:key]
    limit: 5/hour
    on_store_error: closed
  - name: tokens
    when: { path: /base/chat }
    key: [attribute:key]
    limit: 1000/hour
    cost: attribute:tokens
`

let folder: string
let vendor: Server
let received: { readonly url: string; readonly headers: Record<string, unknown>; readonly bytes: number }[]
const running: ChildProcess[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-gateway-'))
  writeFileSync(join(folder, 'rules.yaml'), RULES)
  vendor = createServer(async (request, response) => {
    let bytes = 0
    for await (const part of request) bytes += (part as Buffer).length
    received.push({ url: request.url!, headers: request.headers, bytes })
    if (request.url === '/base/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'x-own', 'x-own': '1' })
      response.write('data: one\n\n')
      setTimeout(() => response.end('data: two\n\n'), 50)
    } else if (request.url === '/base/refused') response.writeHead(429, { 'retry-after': '7' }).end('vendor')
    else if (request.url === '/base/chat') response.end('{"usage":{"total_tokens":300}}')
    else response.writeHead(201, { 'content-encoding': 'gzip' }).end(Buffer.from([31, 139, 8]))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
})
beforeEach(() => {
  received = []
})
afterEach(async () => {
  for (const child of running.splice(0)) await ended(child)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await new Promise((resolve) => vendor.close(resolve))
})

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function started(...more: readonly string[]): Promise<string> {
  const upstream = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/base/`
  const line = ['gateway', folder, '--egress', '--upstream', upstream, '--http', '127.0.0.1:0', ...more]
  const child = spawn(process.execPath, [BIN, ...line], { stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  let text = ''
  for await (const part of child.stderr!) {
    text += part
    const [, url] = /^Calls to (\S+) go to/m.exec(text) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`no gateway: ${text}`)
}

describe('acceptance 5.9: sluice gateway --egress', () => {
  it('passes on what its limits have room for, and refuses the rest before anything is sent', async () => {
    const url = await started('--max-wait', '1s')
    const call = (key: string) => fetch(`${url}/things?a=%20b`, { headers: { authorization: key } })
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('a')))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 429, 429, 429])
    const refusal = answers.find(({ status }) => status === 429)!
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(60)
    expect(refusal.headers.get('content-type')).toBe('application/problem+json')
    expect(received.map((own) => own.url)).toEqual(Array(5).fill('/base/things?a=%20b'))
    expect((await call('b')).status).toBe(201) // has limits of its own
  })

  it('changes nothing on the way: bodies, encodings, streams, refusals of the vendor', async () => {
    const url = await started()
    const raw = await new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      httpRequest(`${url}/raw`, { method: 'POST', headers: { te: 'trailers', 'x-kept': '1' } }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part) => parts.push(part))
        answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }))
      })
        .on('error', reject)
        .end(Buffer.alloc(3_000_000))
    })
    expect([raw.headers['content-encoding'], [...raw.body]]).toEqual(['gzip', [31, 139, 8]])
    expect(received[0]).toMatchObject({ bytes: 3_000_000, headers: { 'x-kept': '1' } })
    expect(received[0]!.headers).not.toHaveProperty('te')
    const stream = await fetch(`${url}/stream`)
    expect(stream.headers.has('x-own')).toBe(false)
    expect(await stream.text()).toBe('data: one\n\ndata: two\n\n')
    const refused = await fetch(`${url}/refused`)
    expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
      429,
      '7',
      'vendor',
    ])
  })

  it('settles the tokens of a model by what the answer says', async () => {
    const url = await started('--tokens', 'tokens', '--max-wait', '1s')
    const ask = () =>
      fetch(`${url}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ max_tokens: 400, messages: [] }),
      })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await ask()).status)
    expect(statuses).toEqual([200, 200, 429, 429]) // 300 + 300 + an estimate of more than 400
  })

  it('never leaves the path of its upstream, and answers what cannot be sent', async () => {
    const url = await started()
    const { port } = new URL(url)
    const raw = (text: string) =>
      new Promise<string>((resolve) => {
        let answer = ''
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
        socket.on('data', (part) => {
          answer += part
        })
        socket.on('close', () => resolve(answer))
      })
    await raw('GET /../../secret/%2e%2e/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(received.map((own) => own.url)).toEqual(['/base/x'])
    expect(await raw('GET http://other/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400/,
    )
  })

  describe('with a Redis', () => {
    let redis: RedisServer
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis.stop())

    it('shares a limit between gateways', async () => {
      const store = ['--store', `redis://127.0.0.1:${redis.port}/0`, '--max-wait', '1s']
      const urls = [await started(...store), await started(...store)]
      const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => fetch(`${urls[i % 2]}/things`)))
      const admitted = answers.filter(({ status }) => status === 201).length
      expect(received).toHaveLength(admitted)
      expect(admitted).toBeGreaterThan(0)
      expect(admitted).toBeLessThanOrEqual(5) // fewer where a busy machine kept Redis longer than its deadline
    })
  })

  it.each([
    [[], '--egress'],
    [['--egress'], '--upstream'],
    [['--egress', '--upstream', 'ftp://x'], '--upstream'],
    [['--egress', '--upstream', 'http://u:p@x/'], '--upstream'],
    [['--egress', '--upstream', 'http://x', '--http', '8090'], '--http'],
    [['--egress', '--upstream', 'http://x', '--max-wait', 'soon'], '--max-wait'],
    [['--egress', '--upstream', 'http://x', '--max-waiting', 'many'], '--max-waiting'],
  ])('says what is wrong with %j', async (more, name) => {
    const { code, err } = await runLine(['gateway', folder, ...more])
    expect([code, err]).toEqual([2, expect.stringContaining(name)])
  })
})
