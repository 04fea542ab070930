import { type Clock, clockCheck } from '../clock.ts'
import { cannotBlock } from '../core/decide/run.ts'
import { ConfigError } from '../core/errors.ts'
import { anything, checkOptions, flag, func, objectOf, textCheck } from '../core/options.ts'
import { Batches } from './redis/batches.ts'
import { callToBlock, callToSettle } from './redis/call.ts'
import { type RedisClient, type Send, senderOf } from './redis/client.ts'
import { LuaPrograms } from './redis/lua-programs.ts'
import { Names } from './redis/names.ts'
import { NO_WINDOW, noWindowError, ScriptRunner, TRIES } from './redis/runner.ts'
import { decideSplit } from './redis/split.ts'
import { StatesBySwap } from './redis/states-by-swap.ts'
import { StoreTime } from './redis/store-time.ts'
import type { Charge, Once, Outcome, StateName, Step, Store } from './store.ts'

export type { RedisClient, Send } from './redis/client.ts'

export interface RedisStoreOptions {
  /** An ioredis, iovalkey or node-redis client: single, sentinel or cluster. It stays its owner's to close. */
  readonly client?: RedisClient
  /** In place of `client`: how to send one command. It must never send one twice. */
  readonly send?: Send
  /** Whether `send` reaches a cluster, whose scripts are held to one slot. Default false; with `client` it is detected. */
  readonly cluster?: boolean
  /** Begins all names in Redis: 1 to 64 printable ASCII characters without spaces and braces. Default `sluice`. */
  readonly prefix?: string
  /**
   * For tests and conformance runs only: its time replaces the server's, and all that is kept expires a day
   * after it was written, so that a run ends before anything does. Never in production, where clients' clocks differ.
   */
  readonly clock?: Clock
}

/** Steps of one request: more is a mistake in the rules. */
const MOST_STEPS_OF_REQUEST = 1_000
/** Slots that are taken to fail together: nodes have runs of slots, and there are 16,384. */
const SLOTS_OF_SHARD = 64
/** All slots as one, where there is no cluster. */
const ANYWHERE = 0
/** From here on downwards: the same slots, of states that no script decides about. */
const BY_SWAP = -1

const OPTIONS = /* @__PURE__ */ objectOf<RedisStoreOptions>(
  { client: anything, send: func, cluster: flag, prefix: textCheck, clock: clockCheck },
  [],
  { what: 'an object with client or send' },
)

/**
 * Keeps state in Redis (6.2 or later) or Valkey and decides there, by the server's clock: one script for a request,
 * or for several that are asked for at once. A state expires when it has recovered, rounded up to a millisecond; what
 * was written under a larger limit, when that one was full again. Algorithms without a twin in Lua are decided in this
 * process, in two trips (redis/states-by-swap.ts).
 *
 * A request whose keys differ may need several slots of a cluster: redis/split.ts says what is promised then.
 * @example
 * const client = new Redis({ autoResendUnfulfilledCommands: false }) // ioredis
 * const store = new FallbackStore(new RedisStore({ client }))
 */
export class RedisStore implements Store<true> {
  readonly async = true
  readonly #runner: ScriptRunner
  readonly #cluster: boolean
  readonly #names: Names
  readonly #time: StoreTime
  readonly #programs = new LuaPrograms()
  readonly #batches: Batches
  readonly #bySwap: StatesBySwap

  /** @throws ConfigError */
  constructor(options: RedisStoreOptions) {
    checkOptions(options, OPTIONS)
    const { client, send, cluster, prefix = 'sluice', clock } = options
    if ((client === undefined) === (send === undefined)) {
      throw new ConfigError('RedisStore takes `client` or `send`, one of them')
    }
    if (client !== undefined && cluster !== undefined) {
      throw new ConfigError('cluster has no effect beside client: whether that is one is detected', {
        path: ['cluster'],
      })
    }
    const sender = client === undefined ? { send: send!, cluster: cluster ?? false } : senderOf(client)
    this.#runner = new ScriptRunner(sender.send)
    this.#cluster = sender.cluster
    this.#names = new Names(prefix)
    this.#time = new StoreTime(clock)
    this.#batches = new Batches(this.#runner, this.#programs, this.#names, this.#time)
    this.#bySwap = new StatesBySwap(this.#runner, this.#names, this.#time)
  }

  decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    if (steps.length === 1) return this.#decide(steps, peek, this.#placeOf(steps[0]!))
    return this.#decideAll(steps, peek)
  }

  async #decideAll(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    if (steps.length === 0) return { allowed: true, at: this.#time.now(), figures: [] }
    if (steps.length > MOST_STEPS_OF_REQUEST) {
      throw new RangeError(`a request has ${MOST_STEPS_OF_REQUEST} steps at most, not ${steps.length}`)
    }
    const places = steps.map((step) => this.#placeOf(step))
    if (places.every((place) => place === places[0])) return this.#decide(steps, peek, places[0]!)
    return decideSplit(steps, peek, places, {
      decide: (own, look, place) => this.#decide(own, look, place),
      settle: (charges) => this.#settle(charges, undefined),
    })
  }

  /** Within a cluster each slot settles for itself, and remembers `once` for itself. */
  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    this.#batches.flush()
    const places = charges.map(({ step }) => this.#placeOf(step))
    if (places.every((place) => place === places[0])) return this.#settle(charges, once)
    const groups = [...new Set(places)].map((place) => charges.filter((_, i) => places[i] === place))
    return (await Promise.all(groups.map((group) => this.#settle(group, once)))).includes(true)
  }

  async reset(state: StateName): Promise<void> {
    this.#batches.flush()
    const { state: name, block } = this.#names.of(state)
    await this.#runner.send(['UNLINK', name, ...(block === undefined ? [] : [block])], name)
  }

  async block(state: StateName, ticks: number): Promise<void> {
    const { block } = this.#names.of(state)
    if (block === undefined) throw cannotBlock(state.rule)
    this.#batches.flush()
    await this.#runner.run(callToBlock(this.#programs, this.#time, block, ticks), 2)
  }

  /** Waits for what was asked. The client stays open. */
  close(): Promise<void> {
    return this.#batches.settled()
  }

  shardOf(step: Pick<Step, 'key'>): number {
    return this.#cluster ? Math.floor(this.#names.slotOf(step) / SLOTS_OF_SHARD) : ANYWHERE
  }

  /** Steps of one place are decided by one script: they are in one slot, and scripts know their algorithms or do not. */
  #placeOf(step: Step): number {
    const slot = this.#cluster ? this.#names.slotOf(step) : ANYWHERE
    return this.#programs.has(step.rule.plan) ? slot : BY_SWAP - slot
  }

  #decide(steps: readonly Step[], peek: boolean, place: number): Promise<Outcome> {
    if (place <= BY_SWAP) return this.#bySwap.decide(steps, peek)
    return this.#batches.decide(steps, peek, place)
  }

  async #settle(charges: readonly Charge[], once: Once | undefined): Promise<boolean> {
    const first = charges[0]?.step
    const remembers = once && this.#names.once(once.id, this.#cluster ? first : undefined)
    if (first !== undefined && this.#placeOf(first) <= BY_SWAP)
      return this.#bySwap.settle(charges, once, remembers ?? '')
    const names = charges.map(({ step }) => this.#names.of(step).state)
    if (remembers !== undefined) names.push(remembers)
    for (let tries = 0; tries < TRIES; tries++) {
      const call = callToSettle(this.#programs, this.#time, charges, names, once)
      const [at, done] = await this.#runner.run(call, 2)
      this.#time.sync(at!)
      if (done !== NO_WINDOW) return done === 1
    }
    throw noWindowError()
  }
}
