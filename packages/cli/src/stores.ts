import { type Clock, MemoryStore, type Store, StoreError } from '@sluice/limiter'
import { RedisStore } from '@sluice/limiter/stores/redis'
import type { Cluster, Redis } from 'ioredis'
import { FORMS, type RedisAddress, readRedisUrl } from './redis-url.ts'
import { UsageError } from './usage-error.ts'

/** What `--store` may be, for help. */
export const STORE_HELP: string = `memory (default), or ${FORMS.join(', ')}`

/**
 * The store of a `--store` value. A Redis that is not there yet is connected to when it is.
 * @param clock takes the place of the store's own; for conformance runs alone, which need a store that answers
 * @throws UsageError for a value that is none; StoreError
 */
export async function openStore(url: string, clock?: Clock): Promise<Store> {
  if (url === 'memory') return new MemoryStore(clock && { clock })
  const address = readRedisUrl(url)
  if (address === undefined) throw new UsageError(`no such store: write ${STORE_HELP}`)
  const client = await connect(address)
  let failure: Error | undefined
  client.on('error', (error: Error) => {
    failure = error // what it costs rejects by itself
  })
  if (clock !== undefined) {
    await client.ping().catch((error: Error) => {
      client.disconnect()
      throw new StoreError(`the store does not answer: ${(failure ?? error).message}`)
    })
  }
  return owning(new RedisStore({ client, ...(clock && { clock }) }), client)
}

/** A store leaves its client to whoever made it. */
function owning(store: RedisStore, client: Redis | Cluster): Store {
  return {
    async: true,
    decide: (steps, peek) => store.decide(steps, peek),
    settle: (charges, once) => store.settle(charges, once),
    reset: (step) => store.reset(step),
    async close() {
      await store.close()
      client.disconnect()
    },
  }
}

async function connect({ kind, tls, hosts, master, db, ...login }: RedisAddress): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis') // most commands need none
  const options = {
    ...login,
    db,
    ...(tls && { tls: {} }),
    autoResendUnfulfilledCommands: false, // what was sent again would charge twice
    maxRetriesPerRequest: 1,
  }
  if (kind === 'cluster') return new Cluster([...hosts], { redisOptions: options })
  if (kind === 'sentinel') {
    return new Redis({
      ...options,
      sentinels: [...hosts],
      name: master,
      ...(tls && { enableTLSForSentinelMode: true }),
    })
  }
  return new Redis({ ...options, ...hosts[0]! })
}
