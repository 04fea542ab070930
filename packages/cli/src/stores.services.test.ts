import { fileURLToPath } from 'node:url'
import { type RedisServer, startRedis } from '@sluice/limiter/stores/redis/server.test-support'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './testing.ts'

const worked = fileURLToPath(new URL('../../conformance/vectors/worked.json', import.meta.url))

let server: RedisServer
beforeAll(async () => {
  server = await startRedis('--requirepass', 'secret')
})
afterAll(() => server.stop())

describe('a Redis by its URL', () => {
  it('is as good a store as memory', async () => {
    const { code, out, err } = await run([
      'conform',
      worked,
      '--store',
      `redis://:secret@127.0.0.1:${server.port}/1`,
    ])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^[1-9]\d* passed, 0 failed\n$/)
  })

  it('that does not let us in, or is not there, is said to be so', async () => {
    const locked = await run(['conform', worked, '--store', `redis://:wrong@127.0.0.1:${server.port}`])
    expect(locked).toMatchObject({ code: 2, out: '' })
    expect(locked.err).toMatch(/^sluice: the store does not answer: (WRONGPASS|NOAUTH)[^\n]*\n$/)
    const absent = await run(['conform', worked, '--store', 'redis://:secret@127.0.0.1:1'])
    expect(absent).toMatchObject({ code: 2, out: '' })
    expect(absent.err).toMatch(/^sluice: the store does not answer: [^\n]*ECONNREFUSED[^\n]*\n$/)
    expect(absent.err).not.toContain('secret')
  })
})
