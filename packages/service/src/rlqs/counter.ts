import { apportioned } from './apportion.ts'
import {
  type Action,
  type Assignment,
  arrivalOf,
  type BucketPart,
  type Holder,
  heldBy,
  isNothing,
  isReady,
  isSame,
  type Lease,
  NOTHING,
  settleHolder,
} from './holder.ts'
import { rescaled } from './quota.ts'
import { sharesOf } from './shares.ts'
import type { Target } from './target.ts'

/** How quotas are assigned. Times are milliseconds. */
export interface AssignSettings {
  /** For how long an assignment is good: whole seconds. */
  readonly ttlMs: number
  /** BucketPart of an even share that a bucket without requests keeps: from 0 to 1. */
  readonly least: number
  /** In this time what is sent on an open stream has arrived. */
  readonly deliveryMs: number
  /** A bucket without requests for so long, and long enough to be full again, is abandoned. */
  readonly idleMs: number
}

/** Assignments are repeated three times in the time that they are good for. */
const RENEWALS = 3
/** Shares that change by less than this part stay: each change is sent to every proxy of the counter. */
const LEAST_CHANGE = 0.1

/** What becomes of holders. */
export interface Outlet {
  send(holder: Holder, action: Action): void
  /** The proxy has forgotten the bucket. */
  gone(holder: Holder): void
}

/**
 * One counter of a limit, which several buckets share. What proxies may go by, those among them that cannot be reached,
 * never adds up to more than the quota; where the quota was lowered, what they may go by only shrinks until it fits.
 *
 * So shares shrink first. What became free is assigned when the smaller ones have arrived; what a closed stream had, when
 * its assignment has ended.
 */
export class Counter {
  readonly holders: Set<Holder> = new Set()
  readonly #settings: AssignSettings
  #target: Target
  #leases: Lease[] = []
  #isNew = true
  /** When {@link assign} has something to do. */
  dueAt = 0
  /** Nothing is sent before: proxies may come back that still go by what another service assigned. */
  waitUntil = 0

  constructor(target: Target, settings: AssignSettings) {
    this.#target = target
    this.#settings = settings
  }

  get target(): Target {
    return this.#target
  }

  get leases(): number {
    return this.#leases.length
  }

  /** Nobody has, or may have, any of it. */
  get isEmpty(): boolean {
    return this.holders.size + this.#leases.length === 0
  }

  /** What proxies may go by now, all together. */
  held(now: number): { tokens: number; burst: number } {
    let tokens = 0
    let burst = 0
    const add = (part: BucketPart): void => {
      tokens += part.tokens
      burst += part.burst
    }
    for (const lease of this.#leases) if (lease.until > now) add(lease)
    for (const holder of this.holders) add(heldBy(holder, now, this.#settings.deliveryMs))
    return { tokens, burst }
  }

  /** The limit has other figures from now on. */
  retarget(target: Target): void {
    const { quota: old } = this.#target
    const { quota } = target
    this.#target = target
    this.#isNew = true
    this.dueAt = 0
    if (typeof quota === 'string') return
    const convert = <P extends BucketPart>(part: P): P => ({
      ...part,
      tokens: typeof old === 'string' ? part.tokens : rescaled(part.tokens, old, quota),
    })
    this.#leases = this.#leases.map(convert)
    for (const holder of this.holders) {
      holder.renew = true
      holder.assigned = holder.assigned && convert(holder.assigned)
      holder.replaced = convert(holder.replaced)
    }
  }

  /** A bucket that had nothing, or what its proxy was assigned on a stream that is closed. */
  join(holder: Holder): void {
    const { proxy } = holder.stream
    const i = this.#leases.findIndex(
      (lease) => proxy !== undefined && lease.proxy === proxy && lease.name === holder.name,
    )
    if (i >= 0) {
      const [lease] = this.#leases.splice(i, 1) as [Lease]
      holder.assigned = lease
      holder.sentAt = lease.until - this.#settings.ttlMs - this.#settings.deliveryMs
    }
    this.holders.add(holder)
    this.#isNew = true
    this.dueAt = 0
  }

  /** @param until when the proxy certainly goes by it no more: where the stream is closed, the end of the assignment */
  leave(holder: Holder, now: number, until: number): void {
    this.holders.delete(holder)
    const part = heldBy(holder, now, this.#settings.deliveryMs)
    if (holder.assigned !== undefined && until > now && (part.tokens > 0 || part.burst > 0)) {
      this.#leases.push({ ...part, proxy: holder.stream.proxy, name: holder.name, until })
    }
    this.#isNew = true
    this.dueAt = 0
  }

  /** When a holder's assignment has certainly ended, where its stream is closed now. */
  endOf(holder: Holder, now: number): number {
    const { ttlMs, deliveryMs } = this.#settings
    return arrivalOf(holder, holder.sentAt, now, deliveryMs) + ttlMs
  }

  /** Sends what is due: other shares, renewals, and the end of buckets that nobody asks for. */
  assign(now: number, outlet: Outlet): void {
    if (now < this.waitUntil) {
      this.dueAt = this.waitUntil
      return
    }
    const { ttlMs, deliveryMs } = this.#settings
    this.#leases = this.#leases.filter(({ until }) => until > now)
    for (const holder of this.holders) settleHolder(holder, now, deliveryMs)
    this.dueAt = now + ttlMs / RENEWALS
    for (const { until } of this.#leases) this.dueAt = Math.min(this.dueAt, until)
    this.#abandonIdle(now, outlet)
    const { quota } = this.#target
    const holders = [...this.holders].filter(({ abandonedAt }) => abandonedAt === undefined)
    if (typeof quota === 'string') {
      for (const holder of holders) this.#send(holder, NOTHING, quota, now, outlet)
      return
    }
    this.#want(holders, quota)
    const next = this.#next(holders, quota, now)
    holders.forEach((holder, i) => {
      const part = next[i]!
      if (!isSame(holder.wanted, part)) this.dueAt = Math.min(this.dueAt, now + deliveryMs)
      // Nothing is free for it yet: until then its proxy does as it does without an assignment.
      if (isNothing(part) && !isNothing(holder.wanted) && holder.assigned === undefined) return
      const assignment = isNothing(part) ? 'DENY_ALL' : { ...part, seconds: quota.seconds }
      this.#send(holder, part, assignment, now, outlet)
    })
  }

  /** What each is to have, where that is not nearly what it is to have already. */
  #want(holders: readonly Holder[], { tokens, burst }: BucketPart): void {
    const known = holders.flatMap(({ demand }) => demand.perSecond ?? [])
    const mean = known.reduce((sum, each) => sum + each, 0) / (known.length || 1)
    const weights = holders.map(({ demand }) => demand.perSecond ?? mean)
    const { least } = this.#settings
    const ofTokens = sharesOf(tokens, weights, least)
    const ofBurst = sharesOf(burst, weights, least)
    const isOther =
      this.#isNew ||
      holders.some(({ wanted }, i) => isFar(wanted.tokens, ofTokens[i]!) || isFar(wanted.burst, ofBurst[i]!))
    this.#isNew = false
    if (!isOther) return
    holders.forEach((holder, i) => {
      const part = { tokens: ofTokens[i]!, burst: ofBurst[i]! }
      holder.wanted = isNothing(part) ? NOTHING : part
    })
  }

  /** What each can be told now. */
  #next(holders: readonly Holder[], quota: BucketPart, now: number): readonly BucketPart[] {
    const ready = holders.filter((holder) => isReady(holder, now))
    const claims = ready.map((holder) => ({
      wanted: holder.wanted,
      held: heldBy(holder, now, this.#settings.deliveryMs),
    }))
    const others = this.held(now)
    for (const { held } of claims) {
      others.tokens -= held.tokens
      others.burst -= held.burst
    }
    const room = { tokens: quota.tokens - others.tokens, burst: quota.burst - others.burst }
    const parts = apportioned(claims, room)
    const next = new Map(ready.map((holder, i) => [holder, parts[i]!]))
    return holders.map((holder) => next.get(holder) ?? holder.assigned ?? NOTHING)
  }

  /** Sends what is new or due for renewal. */
  #send(holder: Holder, part: BucketPart, assignment: Assignment, now: number, outlet: Outlet): void {
    const { ttlMs, deliveryMs } = this.#settings
    const isDue = holder.renew || now - holder.sentAt >= ttlMs / RENEWALS
    if (holder.assigned !== undefined && isSame(holder.assigned, part) && !isDue) {
      this.dueAt = Math.min(this.dueAt, holder.sentAt + ttlMs / RENEWALS)
      return
    }
    if (!isReady(holder, now)) {
      this.dueAt = Math.min(this.dueAt, now + deliveryMs)
      return
    }
    holder.replaced = heldBy(holder, now, deliveryMs)
    holder.replacedAt = now
    holder.assigned = part
    holder.sentAt = now
    holder.renew = false
    outlet.send(holder, { bucket: holder.bucket, assignment, ttlMs })
  }

  /** Proxies keep every bucket that was ever asked for, until they are told to forget it. */
  #abandonIdle(now: number, outlet: Outlet): void {
    const { idleMs, deliveryMs } = this.#settings
    for (const holder of this.holders) {
      if (holder.abandonedAt !== undefined) {
        const goneAt = arrivalOf(holder, holder.abandonedAt, now, deliveryMs)
        if (now < goneAt) this.dueAt = Math.min(this.dueAt, goneAt)
        else {
          this.leave(holder, now, now)
          outlet.gone(holder)
        }
      } else if (holder.isUnwanted || now - holder.usedAt > Math.max(idleMs, this.#fillMs(holder)))
        this.#abandon(holder, now, outlet)
    }
  }

  /** Tells the proxy to forget the bucket. What it had is free when that has arrived. */
  #abandon(holder: Holder, now: number, outlet: Outlet): void {
    if (!isReady(holder, now)) {
      this.dueAt = Math.min(this.dueAt, now + this.#settings.deliveryMs)
      return
    }
    holder.abandonedAt = now
    this.dueAt = Math.min(this.dueAt, now + this.#settings.deliveryMs)
    outlet.send(holder, { bucket: holder.bucket, assignment: 'abandon', ttlMs: 0 })
  }

  /** Forgetting a bucket that is not full would fill it. */
  #fillMs({ assigned = NOTHING }: Holder): number {
    const { quota } = this.#target
    if (typeof quota === 'string' || isNothing(assigned)) return 0
    return (assigned.burst * quota.seconds * 1_000) / assigned.tokens
  }
}

function isFar(old: number, other: number): boolean {
  return Math.abs(old - other) > LEAST_CHANGE * Math.max(old, other)
}
