import type { Send } from '@sluice/limiter/stores/redis'
import type { Cluster, Redis } from 'ioredis'
import { type RedisAddress, redisUrl } from './redis-url.ts'

/** A client of a Redis, and what is wrong with its connection. */
export interface RedisConnection {
  readonly client: Redis | Cluster
  /** Its URL, without user and password. */
  readonly url: string
  /** Sends one command, once. While there is no connection it rejects at once, with the URL and the reason. */
  readonly send: Send
  /** Why there is no connection; `undefined` while there is one. */
  failure(): string | undefined
}

/** Milliseconds without the answer to a command, after which a connection is given up for a new one. */
const SILENCE = 400
/** Milliseconds in which a connection must be made. */
const CONNECT_WITHIN = 1_000
/** Most milliseconds between two tries to connect, or to see whether a server has loaded its data. */
const RETRY_EVERY = 250

/** Does not connect yet. */
export async function createRedisClient(address: RedisAddress): Promise<RedisConnection> {
  const client = await clientOf(address)
  const url = redisUrl(address)
  let last: unknown
  let leaving = false
  client.on('error', (error) => {
    if (leaving) return // what follows from leaving says less
    last = error
    if (error.command?.name !== 'select') return
    // ioredis would go on with database 0 where the one that was asked for cannot be had.
    leaving = true
    client.disconnect(true)
  })
  client.on('close', () => {
    leaving = false
  })
  client.on('ready', () => {
    last = undefined
  })
  const failure = (): string | undefined => (last === undefined ? undefined : messageOf(last))
  const send: Send = async (args) => {
    try {
      return await client.call(args[0]!, args.slice(1))
    } catch (error) {
      if (!NOT_CONNECTED.test((error as Error).message)) throw error
      throw new Error(`${url}: ${failure() ?? 'the connection was closed'}`)
    }
  }
  return { client, url, send, failure }
}

/** How ioredis rejects a command while it has no connection. */
const NOT_CONNECTED = /enableOfflineQueue options is false|^Connection is closed\.$/

/** What the node said, where a whole cluster failed; what each address said, where a host has several. */
function messageOf(error: unknown): string {
  const { lastNodeError } = error as { lastNodeError?: unknown }
  if (lastNodeError !== undefined && lastNodeError !== null) return messageOf(lastNodeError)
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ')
  return error instanceof Error ? error.message.replace('. Please report this.', '') : String(error)
}

async function clientOf({ kind, tls, hosts, master, db, ...login }: RedisAddress): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis') // most commands need none
  const node = {
    ...login,
    db,
    ...(tls && { tls: {} }),
    autoResendUnfulfilledCommands: false,
    socketTimeout: SILENCE,
    connectTimeout: CONNECT_WITHIN,
    maxLoadingRetryTime: RETRY_EVERY,
    disableClientInfo: true, // its commands would take the answer that says why a server turns us away
  }
  // What is asked while there is no connection fails at once, and is not charged when there is one.
  const offline = { lazyConnect: true, enableOfflineQueue: false }
  if (kind === 'cluster') {
    return new Cluster([...hosts], {
      ...offline,
      redisOptions: node,
      retryDelayOnFailover: 0, // or it sends again what was unanswered, which charges twice
      clusterRetryStrategy: retryDelay,
    })
  }
  const options = { ...offline, ...node, retryStrategy: retryDelay }
  if (kind === 'single') return new Redis({ ...options, ...hosts[0]! })
  return new Redis({
    ...options,
    sentinels: [...hosts],
    name: master,
    sentinelCommandTimeout: CONNECT_WITHIN,
    sentinelRetryStrategy: retryDelay,
    ...(tls && { enableTLSForSentinelMode: true }),
  })
}

/** Milliseconds before the next try to connect: never so long that a store which is back is waited for. */
function retryDelay(times: number): number {
  return Math.min(50 * times, RETRY_EVERY)
}
