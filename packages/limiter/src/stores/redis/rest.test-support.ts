import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Redis } from 'ioredis'

/** Redis' REST protocol, as Upstash serves it: a command as a JSON array, strings in base64 where that is asked for. */
export async function startRest(redis: Redis): Promise<{ url: string; stop(): void }> {
  const server = createServer(async (request, response) => {
    const encode = request.headers['upstash-encoding'] === 'base64' ? encoded : (value: unknown) => value
    try {
      const [command, ...args] = (await json(request)) as string[]
      response.end(JSON.stringify({ result: encode(await redis.call(command!, args)) }))
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ error: (error as Error).message }))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}

function encoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encoded)
  return typeof value === 'string' ? Buffer.from(value).toString('base64') : value
}
