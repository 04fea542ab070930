import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService, type Service } from '../service.ts'
import { type RulesFolder, rulesFolder } from '../testing.ts'

const RULES = 'domain: d\nlimits: [{ name: n, key: [ip], limit: 1000/hour, algorithm: fixed-window }]\n'

let folder: RulesFolder
let service: Service
let url: URL
beforeAll(async () => {
  folder = await rulesFolder({ 'rules.yaml': RULES })
  service = createService({
    rules: [folder.path],
    watch: false,
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    log: { level: 'silent' },
    auth: { trusted: ['127.0.0.1'] },
    bounds: { maxBytesInFlight: 8_388_608 },
  })
  url = new URL((await service.start()).http)
})
afterAll(async () => {
  await service.stop()
  await folder.remove()
})

/** A connection, and what has arrived on it. */
async function connected() {
  const socket = connect(Number(url.port), url.hostname)
  await once(socket, 'connect')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  const answers = (): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? []
  const until = async (count: number): Promise<void> => {
    while (answers().length < count) await once(socket, 'data')
  }
  return { socket, answers, until, closed: once(socket, 'close') }
}

const HEAD = 'Host: x\r\nX-Forwarded-Uri: /\r\nX-Forwarded-For: 203.0.113.9\r\n'

describe('a question at a socket', () => {
  test.each(['GET', 'HEAD'])(
    '%s with a Content-Length and no body is answered, and ends there',
    async (method) => {
      const { socket, answers, closed } = await connected()
      socket.write(`${method} /auth HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\n`)
      await closed
      expect(answers()).toEqual(['HTTP/1.1 200'])
    },
  )

  test('is answered before its body, which is not kept, and others follow on the connection', async () => {
    const { socket, answers, until } = await connected()
    const size = 256 * 1_048_576 // far more than the bytes in flight
    const chunk = Buffer.alloc(1_048_576)
    socket.write(`POST /auth/a HTTP/1.1\r\n${HEAD}Content-Length: ${size}\r\n\r\n`)
    await until(1)
    const before = process.memoryUsage().arrayBuffers
    for (let sent = 0; sent < size; sent += chunk.length)
      if (!socket.write(chunk)) await once(socket, 'drain')
    socket.write(`HEAD /auth HTTP/1.1\r\n${HEAD}\r\n`)
    await until(2)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(size / 2)
    expect(answers()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    socket.destroy()
  })

  test('with a path that cannot be decoded is decided all the same', async () => {
    const { socket, answers, until } = await connected()
    socket.write(`GET /auth/%zz%?%zz HTTP/1.1\r\n${HEAD}\r\nOPTIONS /auth* HTTP/1.1\r\n${HEAD}\r\n`)
    await until(2)
    expect(answers()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    socket.destroy()
  })
})
