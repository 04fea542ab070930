import { setTimeout as elapsed } from 'node:timers/promises'
import { type Clock, MemoryStore, type MemoryStoreOptions, type Store, StoreError } from '@sluice/limiter'
import { planOf } from '@sluice/limiter/algorithms'
import { ruleOf } from '@sluice/limiter/decide'
import { RedisStore } from '@sluice/limiter/stores/redis'
import type { Io } from './io.ts'
import { pageUrl } from './pages.ts'
import { createRedisClient, type RedisConnection } from './redis-client.ts'
import { readRedisUrl, URL_FORMS } from './redis-url.ts'
import { secretOf, withoutPasswords } from './secrets.ts'
import { UsageError } from './usage-error.ts'

/** What `--store` may be, for help. */
export const STORE_HELP: string = `memory (default), or ${URL_FORMS.join(', ')}`

/** What help says of a store's URL that has a password. */
export const STORE_NOTES = `Put a URL with a password into the environment variable SLUICE_STORE, or into a file that
SLUICE_STORE_FILE names: all users of a machine can read the arguments of its processes.`

/** What `--store` says, or SLUICE_STORE; in memory by default. @throws UsageError */
export async function storeUrl(given: string | undefined, io: Io): Promise<string> {
  if (given === undefined) return (await secretOf('SLUICE_STORE', io)) ?? 'memory'
  warnOfPassword(given, io)
  return given
}

/** @param given what `--store` says */
export function warnOfPassword(given: string, io: Io): void {
  if (withoutPasswords(given) === given) return
  io.stderr.write(
    `sluice: all users of this machine can read the password in --store: use SLUICE_STORE, or SLUICE_STORE_FILE; see ${pageUrl('cli.md#secrets')}\n`,
  )
}

/** Milliseconds that a store has to answer when it is opened. */
const PATIENCE = 3_000
/** Milliseconds that it has to answer what is still asked when it is closed. */
const LAST_WORDS = 1_000

/**
 * The store of a `--store` value.
 * @param clock takes the place of the store's own; for conformance runs alone
 * @throws UsageError for a value that is none; StoreError for a Redis that does not answer
 */
export async function openStore(url: string, clock?: Clock): Promise<Store> {
  const { store, problem } = await prepareStore(url, {}, undefined, clock)
  const found = await problem()
  if (found === undefined) return store
  await store.close()
  throw new StoreError(`the store does not answer: ${found}`)
}

/** A store that is not connected yet. */
export interface PreparedStore {
  readonly store: Store
  /** Connects. @returns what is wrong, if anything: the address without user and password, and why. It goes on trying. */
  problem(): Promise<string | undefined>
}

/**
 * @param caps of a store in this process
 * @param from what gave the URL, for messages
 * @throws UsageError for a value that is none; ConfigError for caps that are none
 */
export async function prepareStore(
  url: string,
  caps: Pick<MemoryStoreOptions, 'maxKeys' | 'maxBytes'>,
  from = '--store',
  clock?: Clock,
): Promise<PreparedStore> {
  if (url === 'memory') {
    return { store: new MemoryStore({ ...caps, ...(clock && { clock }) }), problem: async () => undefined }
  }
  const address = readRedisUrl(url)
  if (address === undefined) throw new UsageError(`${from}: no such store: write ${STORE_HELP}`)
  const connection = await createRedisClient(address)
  const cluster = address.kind === 'cluster'
  const store = new RedisStore({ send: connection.send, cluster, ...(clock && { clock }) })
  return { store: owning(store, connection), problem: () => reach(connection, store) }
}

/** A look at a counter that nothing ever charges. */
const PROBE = {
  rule: ruleOf('probe', 'sluice/probe', planOf({ algorithm: 'fixed-window', limit: 1, period: 'second' })),
  key: '',
  cost: 0,
}

/** Connects, and asks what a decision needs to be allowed to ask. @returns what is wrong, if anything */
async function reach(
  { client, url, failure }: RedisConnection,
  store: RedisStore,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    await Promise.race([client.connect().then(() => store.decide([PROBE], true)), late])
    return undefined
  } catch (error) {
    return `${url}: ${failure() ?? (error as Error).message}`
  } finally {
    clearTimeout(timer)
  }
}

/** A store does not close its client. */
function owning(store: RedisStore, { client }: RedisConnection): Store {
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
