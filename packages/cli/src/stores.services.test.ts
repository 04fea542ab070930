import { readdirSync } from 'node:fs'
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
  const { code, out, err } = await runLine(['conform', ...vectors, '--store', url])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^[1-9]\d{2,} passed, 0 failed\n$/)
}

let server: RedisServer
beforeAll(async () => {
  server = await startRedis('--requirepass', 'secret')
})
afterAll(() => server.stop())

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
    ['that wants a password', () => `redis://127.0.0.1:${server.port}`, 'NOAUTH'],
    ['without such a database', () => `redis://:secret@127.0.0.1:${server.port}/99`, 'DB index'],
    [
      'that is no cluster',
      () => `redis+cluster://:secret@127.0.0.1:${server.port}`,
      'cluster support disabled',
    ],
    ['that is not there', () => 'redis://:wrong-secret@127.0.0.1:1', 'ECONNREFUSED'],
    [
      'behind no sentinels',
      () => 'redis+sentinel://:wrong-secret@127.0.0.1:1/main',
      'sentinels are unreachable',
    ],
  ])('%s is said to be so', async (_kind, url, reason) => {
    const { code, out, err } = await runLine(['conform', worked, '--store', url()])
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^sluice: the store does not answer: [^\n]+\n$/)
    expect(err).toContain(reason)
    expect(err).not.toContain('secret')
  })
})
