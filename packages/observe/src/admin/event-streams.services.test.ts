import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { EventStreams, eventText, nodeSink } from './event-streams.ts'

test('a stream whose reader stands still is cut off, and holds a bounded amount until then', async () => {
  const streams = new EventStreams()
  const app = fastify()
  app.get('/', (_request, reply) => {
    reply.hijack()
    streams.add(() => nodeSink(reply.raw), {
      first: '',
      ticked: () => eventText('much', 'x'.repeat(100_000)),
    })
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const readers = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const
  const [slow, quick] = readers
  for (const reader of readers) {
    reader.on('error', () => undefined)
    reader.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await once(reader, 'readable') // paused from here on
  }
  let bytes = 0
  quick.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  expect(streams.size).toBe(2)
  for (let i = 0; i < 2_000 && streams.size === 2; i++) {
    streams.tick()
    await new Promise(setImmediate)
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5)) // lets the quick one read
  }
  expect(streams.size).toBe(1)
  expect(bytes).toBeGreaterThan(1_000_000)
  expect(quick.destroyed).toBe(false)
  slow.destroy()
  streams.close()
  quick.destroy()
  await app.close()
})
