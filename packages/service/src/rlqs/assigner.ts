import { type BucketId, bucketName } from './bucket-id.ts'
import { type AssignSettings, Counter, type Outlet } from './counter.ts'
import { Demand } from './demand.ts'
import { type Action, type Holder, NOTHING, type Stream } from './holder.ts'
import { PolicyUses } from './policy-uses.ts'
import type { FindTarget, Target } from './target.ts'

/** What a proxy reports of one bucket. */
export interface Usage {
  readonly bucket: BucketId
  /** Milliseconds that the report is about; 0 in the first one of a bucket. */
  readonly elapsedMs: number
  readonly allowed: number
  readonly denied: number
}

/** How much is kept, whatever proxies send. */
export interface AssignBounds {
  readonly maxStreams: number
  /** Buckets of all streams, and those that closed streams may still go by. */
  readonly maxBuckets: number
}

/** Why reports are passed over: their buckets get no assignment. */
export type PassedOver = 'unknown' | 'unreadable' | 'too many'

interface BucketEntry {
  readonly holder: Holder
  readonly domain: string
  counter: Counter
}

/** Milliseconds in which proxies come back to a service that was started again: they try every 5 s. */
const RETURN_MS = 6_000
/** Buckets that are held against changed rules in one turn. */
const MOST_REFOUND = 2_000
/** Actions of one message. */
const MOST_ACTIONS = 1_000
const MOST_DOMAIN = 256

/**
 * Assigns parts of limits to the proxies that ask for them, by how much of them they report to use. It has neither a
 * transport nor a clock: instants are milliseconds, and {@link tick} is to be called all the time.
 */
export class Assigner {
  readonly #settings: AssignSettings & AssignBounds
  readonly #streams = new Map<Stream, Map<string, BucketEntry>>()
  readonly #counters = new Map<string, Counter>()
  #startedAt = Number.NEGATIVE_INFINITY
  #find: FindTarget
  /** Buckets that were not held against the present rules yet. */
  #stale: BucketEntry[] = []
  #buckets = 0
  #unsent = new Map<Stream, Action[]>()
  readonly uses: PolicyUses = new PolicyUses()
  readonly passedOver: Record<PassedOver, number> = { unknown: 0, unreadable: 0, 'too many': 0 }

  constructor(settings: AssignSettings & AssignBounds, find: FindTarget) {
    this.#settings = settings
    this.#find = find
  }

  /** Proxies may come from now on; those that were connected to a service before come back in the next seconds. */
  start(now: number): void {
    this.#startedAt = now
  }

  get streams(): number {
    return this.#streams.size
  }

  /** Buckets of all streams, and those that closed streams may still go by. */
  get buckets(): number {
    return this.#buckets
  }

  get counters(): Iterable<Counter> {
    return this.#counters.values()
  }

  /** @returns whether there is room for the stream */
  open(stream: Stream): boolean {
    if (this.#streams.size >= this.#settings.maxStreams) return false
    this.#streams.set(stream, new Map())
    return true
  }

  report(stream: Stream, domain: string, usages: readonly Usage[], now: number): void {
    const entries = this.#streams.get(stream)
    if (entries === undefined) return
    const joined = new Set<Counter>()
    for (const usage of usages) {
      const name = domain.length > MOST_DOMAIN ? undefined : bucketName(usage.bucket)
      if (name === undefined) this.passedOver.unreadable++
      else {
        const key = `${domain} ${name}`
        const entry = entries.get(key)
        if (entry !== undefined) this.#reported(entry, usage, now)
        else this.#join(stream, domain, { ...usage, key }, now, joined)
      }
    }
    for (const counter of joined) this.#assign(counter, now)
    this.#flush()
  }

  close(stream: Stream, now: number): void {
    const entries = this.#streams.get(stream)
    if (entries === undefined) return
    this.#streams.delete(stream)
    for (const { holder, counter } of entries.values()) this.#leave(counter, holder, now)
  }

  /** Other rules are in force: what they change is sent in the next ticks. */
  useRules(find: FindTarget): void {
    this.#find = find
    this.#stale = [...this.#streams.values()].flatMap((entries) => [...entries.values()])
  }

  /** Sends what is due, a few times a second. */
  tick(now: number): void {
    for (const entry of this.#stale.splice(0, MOST_REFOUND)) this.#refind(entry, now)
    for (const [id, counter] of this.#counters) {
      if (counter.dueAt <= now) this.#assign(counter, now)
      if (counter.isEmpty) this.#counters.delete(id)
    }
    this.#flush()
  }

  #reported({ holder, counter, domain }: BucketEntry, usage: Usage, now: number): void {
    const requests = usage.allowed + usage.denied
    this.uses.count(domain, counter.target.policy, usage.allowed, usage.denied)
    if (requests > 0) {
      holder.usedAt = now
      // It was asked for while its end was on the way.
      if (holder.abandonedAt !== undefined) holder.renew = true
      holder.abandonedAt = undefined
    }
    if (usage.elapsedMs === 0) holder.renew = true // the proxy knows the bucket no more
    holder.demand.report(now, requests)
    counter.dueAt = Math.min(counter.dueAt, now)
  }

  #join(
    stream: Stream,
    domain: string,
    usage: Usage & { readonly key: string },
    now: number,
    joined: Set<Counter>,
  ): void {
    const target = this.#find(domain, usage.bucket)
    if (target === undefined) return void this.passedOver.unknown++
    if (this.#buckets >= this.#settings.maxBuckets) return void this.passedOver['too many']++
    const { key, bucket, allowed, denied, elapsedMs } = usage
    this.uses.count(domain, target.policy, allowed, denied)
    if (target.missing) this.uses.missing(domain, target.policy)
    const counter = this.#counterOf(target)
    const holder = newHolder(stream, key, bucket, new Demand(now, allowed + denied, elapsedMs), now)
    const leases = counter.leases
    counter.join(holder)
    this.#buckets += 1 + counter.leases - leases
    this.#streams.get(stream)!.set(key, { holder, domain, counter })
    // It has been there for some time: so it may go by what was assigned before this service was started.
    if (elapsedMs > 0 && now < this.#startedAt + RETURN_MS) counter.waitUntil = this.#startedAt + RETURN_MS
    joined.add(counter)
  }

  #counterOf(target: Target): Counter {
    const known = this.#counters.get(target.counter)
    if (known === undefined) {
      const counter = new Counter(target, this.#settings)
      this.#counters.set(target.counter, counter)
      return counter
    }
    if (!isSameQuota(known.target, target)) known.retarget(target)
    return known
  }

  #assign(counter: Counter, now: number): void {
    const leases = counter.leases
    counter.assign(now, this.#outlet)
    this.#buckets += counter.leases - leases
  }

  #leave(counter: Counter, holder: Holder, now: number): void {
    const leases = counter.leases
    counter.leave(holder, now, counter.endOf(holder, now))
    this.#buckets += counter.leases - leases - 1
  }

  #refind(entry: BucketEntry, now: number): void {
    const { holder, domain, counter } = entry
    const entries = this.#streams.get(holder.stream)
    if (entries?.get(holder.name) !== entry) return
    const target = this.#find(domain, holder.bucket)
    holder.isUnwanted = target === undefined
    counter.dueAt = 0
    if (target === undefined) return
    const other = this.#counterOf(target)
    if (other === counter) return
    this.#leave(counter, holder, now)
    const moved = newHolder(holder.stream, holder.name, holder.bucket, holder.demand, holder.usedAt)
    other.join(moved)
    this.#buckets++
    entries.set(holder.name, { holder: moved, domain, counter: other })
  }

  readonly #outlet: Outlet = {
    send: ({ stream }, action) => {
      const actions = this.#unsent.get(stream) ?? []
      actions.push(action)
      this.#unsent.set(stream, actions)
    },
    gone: ({ stream, name }) => {
      this.#buckets--
      this.#streams.get(stream)?.delete(name)
    },
  }

  #flush(): void {
    const unsent = this.#unsent
    this.#unsent = new Map()
    for (const [stream, actions] of unsent) {
      for (let i = 0; i < actions.length; i += MOST_ACTIONS) stream.send(actions.slice(i, i + MOST_ACTIONS))
    }
  }
}

function newHolder(stream: Stream, name: string, bucket: BucketId, demand: Demand, usedAt: number): Holder {
  return {
    stream,
    name,
    bucket,
    demand,
    usedAt,
    wanted: NOTHING,
    assigned: undefined,
    replaced: NOTHING,
    replacedAt: Number.NEGATIVE_INFINITY,
    sentAt: 0,
    renew: true,
    isUnwanted: false,
    abandonedAt: undefined,
  }
}

function isSameQuota({ quota: a, policy, domain }: Target, { quota: b, ...other }: Target): boolean {
  if (policy !== other.policy || domain !== other.domain) return false
  if (typeof a === 'string' || typeof b === 'string') return a === b
  return a.tokens === b.tokens && a.seconds === b.seconds && a.burst === b.burst
}
