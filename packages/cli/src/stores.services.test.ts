import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../../limiter/src/stores/redis/cluster.test-support.ts'
import { startSentinels } from '../../limiter/src/stores/redis/sentinel.test-support.ts'
import { type RedisServer, startRedis } from '../../limiter/src/stores/redis/server.test-support.ts'
import { runLine } from './testing.ts'

const folder = fileURLToPath(new URL('../../conformance/vectors/', import.meta.url))
const vectors = readdirSync(folder).map((name) => folder + name)
const worked = `${folder}worked.json`

const listOf = (ports: readonly number[]): string => ports.map((port) => `127.0.0.1:${port}`).join(',')

async function expectAllPassed(url: string): Promise<void> {
  const { code, out, err } = await runLine(['conform', ...vectors], '', { SLUICE_STORE: url })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^[1-9]\d{2,} passed, 0 failed\n$/)
}

let server: RedisServer
/** Ports of servers that answer the first bytes of a connection in one way. */
let turnsAway: number
let loads: number
let silent: number
let web: number
const closing: (() => unknown)[] = []
beforeAll(async () => {
  server = await startRedis(
    '--requirepass',
    'secret',
    '--user',
    'reader',
    'on',
    '>secret',
    '~*',
    '+@read',
    '+@connection',
  )
  turnsAway = await startAnswering('-DENIED Redis is running in protected mode.\r\n', true)
  loads = await startAnswering('-LOADING Redis is loading the dataset in memory\r\n')
  silent = await startAnswering('')
  web = await startAnswering('HTTP/1.1 400 Bad Request\r\n\r\n', true)
})
afterAll(async () => {
  for (const close of closing) close()
  await server.stop()
})

async function startAnswering(answer: string, ends = false): Promise<number> {
  const sockets = new Set<Socket>()
  const answering = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', () => (ends ? socket.end(answer) : socket.write(answer)))
  })
  closing.push(() => {
    answering.close()
    for (const socket of sockets) socket.destroy()
  })
  await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve))
  return (answering.address() as AddressInfo).port
}

describe('a Redis by its URL', () => {
  it('is as good a store as memory', () => expectAllPassed(`redis://:secret@127.0.0.1:${server.port}/1`))

  it('may be a cluster', async () => {
    const { nodes, stop } = await startCluster(3)
    try {
      await expectAllPassed(`redis+cluster://${listOf(nodes.map((node) => node.server.port))}`)
    } finally {
      await stop()
    }
  })

  it('may be found through sentinels', async () => {
    const { ports, name, stop } = await startSentinels()
    try {
      await expectAllPassed(`redis+sentinel://${listOf(ports)}/${name}`)
    } finally {
      await stop()
    }
  })

  it.each([
    ['that does not let us in', () => `redis://:wrong-secret@127.0.0.1:${server.port}`, 'WRONGPASS'],
    ['that does not know the user', () => `redis://eve:wrong-secret@127.0.0.1:${server.port}`, 'WRONGPASS'],
    ['that wants a password', () => `redis://127.0.0.1:${server.port}`, 'NOAUTH'],
    ['without such a database', () => `redis://:secret@127.0.0.1:${server.port}/99`, 'DB index'],
    ['that lets us run no scripts', () => `redis://reader:secret@127.0.0.1:${server.port}`, 'NOPERM'],
    [
      'that is no cluster',
      () => `redis+cluster://:secret@127.0.0.1:${server.port}`,
      'cluster support disabled',
    ],
    [
      'whose cluster does not let us in',
      () => `redis+cluster://:wrong-secret@127.0.0.1:${server.port}`,
      'WRONGPASS',
    ],
    ['that is not there', () => 'redis://:wrong-secret@127.0.0.1:1', 'ECONNREFUSED'],
    ['of no known host', () => 'redis://:wrong-secret@nowhere.invalid', 'nowhere.invalid'],
    [
      'that speaks no TLS',
      () => `rediss://:wrong-secret@127.0.0.1:${server.port}`,
      /SSL|TLS|reset|hang up|TIMEDOUT/i,
    ],
    ['in protected mode', () => `redis://:wrong-secret@127.0.0.1:${turnsAway}`, 'DENIED'],
    ['that loads its data', () => `redis://:wrong-secret@127.0.0.1:${loads}`, 'LOADING'],
    ['that says nothing', () => `redis://:wrong-secret@127.0.0.1:${silent}`, "didn't receive any"],
    ['that is a web server', () => `redis://:wrong-secret@127.0.0.1:${web}`, 'Unknown RESP type'],
    [
      'behind no sentinels',
      () => 'redis+sentinel://:wrong-secret@127.0.0.1:1/main',
      'sentinels are unreachable',
    ],
  ])('OF-51: %s is said to be so, with its address', async (_kind, url, reason) => {
    const { code, out, err } = await runLine(['conform', worked], '', { SLUICE_STORE: url() })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`the store does not answer: ${url().replace(/\/\/.*@/, '//')}`)
    expect(err).toMatch(reason)
    expect(err).not.toMatch(/secret|writeable/)
  })
})
