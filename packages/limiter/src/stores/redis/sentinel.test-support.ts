import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis, startServer } from './server.test-support.ts'

/** A master and a replica under three sentinels, of a test's own. */
export interface Sentinels {
  readonly name: string
  readonly ports: readonly number[]
  readonly master: RedisServer
  readonly replica: RedisServer
  stop(): Promise<void>
}

const NAME = 'main'
const COUNT = 3
const QUORUM = 2

/** Starts them, and waits until each sentinel knows the replica and the other sentinels. */
export async function startSentinels(): Promise<Sentinels> {
  const servers: RedisServer[] = []
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())))
  const keep = async (starting: Promise<RedisServer>): Promise<RedisServer> => {
    const server = await starting
    servers.push(server)
    return server
  }
  try {
    const master = await keep(startRedis('--repl-diskless-sync-delay', '0'))
    const replica = await keep(startRedis('--replicaof', '127.0.0.1', String(master.port)))
    const ports: number[] = []
    for (let i = 0; i < COUNT; i++) ports.push((await keep(startSentinel(master.port))).port)
    for (const port of ports) await until(port)
    return { name: NAME, ports, master, replica, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function startSentinel(master: number): Promise<RedisServer> {
  return startServer(async (port, dir) => {
    const config = join(dir, 'sentinel.conf')
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${dir}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${master} ${QUORUM}`,
      `sentinel down-after-milliseconds ${NAME} 500`,
      `sentinel failover-timeout ${NAME} 3000`,
    ]
    await writeFile(config, lines.join('\n'))
    return ['redis-sentinel', config]
  })
}

/** Until the sentinel on `port` sees the master up, its replica and the others. */
async function until(port: number): Promise<void> {
  const client = new Redis({ port })
  try {
    for (const giveUp = performance.now() + 100_000; ; ) {
      const answer = (await client.call('SENTINEL', 'MASTER', NAME)) as string[]
      const fields = new Map(answer.map((field, i) => [field, answer[i + 1]]))
      const others = fields.get('num-other-sentinels') === String(COUNT - 1)
      if (fields.get('flags') === 'master' && fields.get('num-slaves') === '1' && others) return
      if (performance.now() > giveUp) throw new Error('the sentinels did not find each other within 100 s')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  } finally {
    client.disconnect()
  }
}
