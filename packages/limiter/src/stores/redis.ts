import type { Clock } from '../clock.ts'
import type { Step } from '../core/decide/step.ts'
import { ConfigError } from '../core/errors.ts'
import { Batches } from './redis/batches.ts'
import { callToSettle } from './redis/call.ts'
import { type RedisClient, type Send, senderOf } from './redis/client.ts'
import { Laws } from './redis/laws.ts'
import { Names, type State, slotOf } from './redis/names.ts'
import { LOST, lost, Runner, TRIES } from './redis/runner.ts'
import { decideSplit } from './redis/split.ts'
import { StoreTime } from './redis/store-time.ts'
import type { Charge, Once, Outcome, Store } from './store.ts'

export type { RedisClient, Send } from './redis/client.ts'

export interface RedisStoreOptions {
  /** An ioredis, iovalkey or node-redis client: single, sentinel or cluster. It stays its owner's to close. */
  readonly client?: RedisClient
  /** In place of `client`: how to send one command. It must never send one twice. */
  readonly send?: Send
  /** Whether `send` reaches a cluster, whose scripts are held to one slot. Default false; a client tells by itself. */
  readonly cluster?: boolean
  /** Begins all names in Redis: 1 to 64 printable ASCII characters without spaces and braces. Default `sluice`. */
  readonly prefix?: string
  /**
   * For tests and conformance runs only: its time stands in for the server's, and all that is kept expires a day
   * after it was written, so that a run ends before anything does. Never in production, where clients' clocks differ.
   */
  readonly clock?: Clock
}

/** Steps of one request: more is a mistake in the rules. */
const MOST_STEPS = 1_000
/** Slots that are taken to fail together: nodes have runs of slots, and there are 16,384. */
const SLOTS_OF_SHARD = 64
/** All slots as one, where there is no cluster. */
const ANYWHERE = 0

/**
 * Keeps state in Redis (6.2 or later) or Valkey and decides there, by the server's clock: one script for a request,
 * or for several that are asked for at once. A state expires when it means nothing any more, rounded up to a
 * millisecond; what was written under a larger limit, when that one was full again.
 *
 * A request whose keys differ may meet several slots of a cluster: redis/split.ts says what is promised then.
 */
export class RedisStore implements Store<true> {
  readonly async = true
  readonly #runner: Runner
  readonly #cluster: boolean
  readonly #names: Names
  readonly #time: StoreTime
  readonly #laws = new Laws()
  readonly #batches: Batches

  /** @throws ConfigError */
  constructor(options: RedisStoreOptions) {
    const { client, send, cluster = false, prefix = 'sluice', clock } = options
    if ((client === undefined) === (send === undefined)) {
      throw new ConfigError('RedisStore takes `client` or `send`, one of them')
    }
    const sender = client === undefined ? { send: send!, cluster } : senderOf(client)
    this.#runner = new Runner(sender.send)
    this.#cluster = sender.cluster
    this.#names = new Names(prefix)
    this.#time = new StoreTime(clock)
    this.#batches = new Batches(this.#runner, this.#laws, this.#time)
  }

  async decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    if (steps.length === 0) return { allowed: true, at: this.#time.now(), figures: [] }
    if (steps.length > MOST_STEPS) {
      throw new RangeError(`a request has ${MOST_STEPS} steps at most, not ${steps.length}`)
    }
    for (const { plan } of steps) this.#laws.check(plan)
    if (!this.#cluster) return this.#decide(steps, peek, ANYWHERE)
    const slots = steps.map(slotOf)
    if (slots.every((slot) => slot === slots[0])) return this.#decide(steps, peek, slots[0]!)
    return decideSplit(steps, peek, slots, {
      decide: (own, look, slot) => this.#decide(own, look, slot),
      settle: (charges) => this.#settle(charges, undefined),
    })
  }

  /** Within a cluster each slot settles for itself, and remembers `once` for itself. */
  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    for (const { step } of charges) this.#laws.check(step.plan)
    this.#batches.flush()
    if (!this.#cluster || charges.length === 0) return this.#settle(charges, once)
    const slots = charges.map(({ step }) => slotOf(step))
    const groups = [...new Set(slots)].map((slot) => charges.filter((_, i) => slots[i] === slot))
    return (await Promise.all(groups.map((group) => this.#settle(group, once)))).includes(true)
  }

  async reset(state: State): Promise<void> {
    this.#batches.flush()
    const name = this.#names.state(state)
    await this.#runner.tell(['UNLINK', name], name)
  }

  /** Waits for what was asked. The client stays open. */
  close(): Promise<void> {
    return this.#batches.settled()
  }

  shardOf(step: Pick<Step, 'key'>): number {
    return this.#cluster ? Math.floor(slotOf(step) / SLOTS_OF_SHARD) : ANYWHERE
  }

  #decide(steps: readonly Step[], peek: boolean, slot: number): Promise<Outcome> {
    const names = steps.map((step) => this.#names.state(step))
    return this.#batches.decide(steps, names, peek, slot)
  }

  async #settle(charges: readonly Charge[], once: Once | undefined): Promise<boolean> {
    const names = charges.map(({ step }) => this.#names.state(step))
    if (once !== undefined) {
      names.push(this.#names.once(once.id, this.#cluster ? charges[0]?.step : undefined))
    }
    for (let tries = 0; tries < TRIES; tries++) {
      const [at, done] = await this.#runner.run(callToSettle(this.#laws, this.#time, charges, names, once), 2)
      this.#time.told(at!)
      if (done !== LOST) return done === 1
    }
    throw lost()
  }
}
