import { setTimeout as elapsed } from 'node:timers/promises'
import { type Clock, MemoryStore, type Store, StoreError } from '@sluice/limiter'
import { RedisStore } from '@sluice/limiter/stores/redis'
import type { Cluster, Redis } from 'ioredis'
import { type RedisAddress, readRedisUrl, URL_FORMS } from './redis-url.ts'
import { UsageError } from './usage-error.ts'

/** What `--store` may be, for help. */
export const STORE_HELP: string = `memory (default), or ${URL_FORMS.join(', ')}`

/** Milliseconds that a store has to answer when it is opened. */
const PATIENCE = 3_000
/** Milliseconds that it has to answer what is still asked when it is closed. */
const LAST_WORDS = 1_000

/**
 * The store of a `--store` value.
 * @param clock takes the place of the store's own; for conformance runs alone
 * @param warn is called, in place of an error, for a Redis that does not answer: it is connected to when it is there
 * @throws UsageError for a value that is none; StoreError
 */
export async function openStore(
  url: string,
  clock?: Clock,
  warn?: (message: string) => void,
): Promise<Store> {
  if (url === 'memory') return new MemoryStore(clock && { clock })
  const address = readRedisUrl(url)
  if (address === undefined) throw new UsageError(`no such store: write ${STORE_HELP}`)
  const client = await clientOf(address)
  const problem = await reach(client)
  if (problem !== undefined) {
    const message = `the store does not answer: ${problem}`
    if (warn === undefined) {
      client.disconnect()
      throw new StoreError(message)
    }
    warn(message)
  }
  return owning(new RedisStore({ client, ...(clock && { clock }) }), client)
}

/** Connects. @returns what is wrong, if anything */
async function reach(client: Redis | Cluster): Promise<string | undefined> {
  let failure: unknown
  client.on('error', (error) => {
    failure = error // from now on: what it costs rejects by itself
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    await Promise.race([client.connect().then(() => client.ping()), late])
  } catch (error) {
    failure ??= error
  } finally {
    clearTimeout(timer)
  }
  return failure === undefined ? undefined : connectionFailure(failure) // a database that there is not lets pings through
}

/** What the node said, where a whole cluster failed; what each address said, where a host has several. */
function connectionFailure(error: unknown): string {
  const { lastNodeError } = error as { lastNodeError?: unknown }
  if (lastNodeError !== undefined && lastNodeError !== null) return connectionFailure(lastNodeError)
  if (error instanceof AggregateError) return error.errors.map(connectionFailure).join(', ')
  return error instanceof Error ? error.message : String(error)
}

/** A store does not close its client. */
function owning(store: RedisStore, client: Redis | Cluster): Store {
  return {
    async: true,
    decide: (steps, peek) => store.decide(steps, peek),
    settle: (charges, once) => store.settle(charges, once),
    reset: (state) => store.reset(state),
    block: (state, ticks) => store.block(state, ticks),
    shardOf: (step) => store.shardOf(step),
    async close() {
      // ioredis drops what was unanswered when a connection broke, and then nothing ever comes of it.
      await Promise.race([store.close(), elapsed(LAST_WORDS, undefined, { ref: false })])
      client.disconnect()
    },
  }
}

async function clientOf({ kind, tls, hosts, master, db, ...login }: RedisAddress): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis') // most commands need none
  const node = { ...login, db, ...(tls && { tls: {} }), autoResendUnfulfilledCommands: false }
  if (kind === 'cluster') {
    return new Cluster([...hosts], {
      ...OFFLINE,
      redisOptions: node,
      retryDelayOnFailover: 0, // or it sends again what was unanswered, which charges twice
      clusterRetryStrategy: retryDelay,
    })
  }
  const options = { ...OFFLINE, ...node, retryStrategy: retryDelay }
  if (kind === 'single') return new Redis({ ...options, ...hosts[0]! })
  return new Redis({
    ...options,
    sentinels: [...hosts],
    name: master,
    sentinelRetryStrategy: retryDelay,
    ...(tls && { enableTLSForSentinelMode: true }),
  })
}

/** What is asked while there is no connection fails at once, and is not charged when there is one. */
const OFFLINE = { lazyConnect: true, enableOfflineQueue: false } as const

/** Milliseconds before the next try to connect: never so long that a store which is back is waited for. */
function retryDelay(times: number): number {
  return Math.min(50 * times, 500)
}
