import { startTimer } from '@sluice/limiter/time'
import type { AnswerBody, ReserveAnswerBody } from '@sluice/limiter/wire'
import { laterAnswer } from './service-answer.ts'

export interface LeaseOptions {
  /** Most units that are taken ahead for one question; 1: none. */
  readonly units: number
  /** Clients that share the limits: a lease takes at most 1/(2·clients) of what is left, so that all find some. Default 2. */
  readonly clients?: number
  /** Milliseconds without use after which a lease is given back, or half as late again. Default 1,000. */
  readonly idleMs?: number
  /** Most leases at once; other questions are asked one by one. Default 10,000. */
  readonly maxLeases?: number
}

/** What a lease is taken with, and given back. */
export interface LeaseCalls {
  reserve(subject: string, cost: number, ttlMs: number): Promise<ReserveAnswerBody>
  commit(id: string, cost: number): Promise<unknown>
}

/** Units of one question that are charged already. */
interface SubjectLease {
  readonly answer: ReserveAnswerBody & { readonly id: string }
  /** Monotonic milliseconds: when the answer was in, and from when the units no longer count. */
  readonly answered: number
  readonly until: number
  units: number
  spent: number
}

/** What is known of one question, whatever its cost. */
interface KnownSubject {
  /** The last answer: absent until there is one. */
  last?: AnswerBody | undefined
  lease?: SubjectLease | undefined
  pending?: Promise<void> | undefined
  /** Monotonic milliseconds. */
  used: number
}

const MOST_TTL_MS = 86_400_000

/**
 * Units taken ahead, by a reservation of many units, and granted here without asking. Only where the service says that
 * they may be (`leaseMs`): the limit is one of windows, and the units end with the window in which they were charged,
 * counted from before the service was asked. So never more is admitted than the limit. What is unused is given back.
 */
export class Leases {
  readonly #calls: LeaseCalls
  readonly #now: () => number
  readonly #units: number
  readonly #clients: number
  readonly #idle: number
  readonly #max: number
  readonly #subjects = new Map<string, KnownSubject>()
  #stopTimer: (() => void) | undefined

  /** @param now monotonic milliseconds */
  constructor(
    calls: LeaseCalls,
    { units, clients = 2, idleMs = 1_000, maxLeases = 10_000 }: LeaseOptions,
    now: () => number,
  ) {
    this.#calls = calls
    this.#units = units
    this.#clients = clients
    this.#idle = idleMs
    this.#max = maxLeases
    this.#now = now
  }

  /** Grants from what was taken ahead, or takes some first. `undefined`: the service must be asked. */
  async grant(subject: string, cost: number): Promise<AnswerBody | undefined> {
    const known = this.#subjects.get(subject)
    if (known === undefined || cost === 0) return undefined
    known.used = this.#now()
    const granted = this.#spend(known, cost)
    if (granted !== undefined) return granted
    if (known.pending === undefined) {
      const size = this.#sizeOf(known)
      if (size <= cost) return void (await this.#giveBack(known))
      known.pending = this.#take(known, subject, size).finally(() => {
        known.pending = undefined
      })
    }
    await known.pending
    return this.#spend(known, cost)
  }

  /** What the service answered, who asks by it whether the next question may take units ahead. */
  heard(subject: string, answer: AnswerBody): void {
    const known = this.#subjects.get(subject)
    if (known !== undefined) known.last = answer
    else if (answer.leaseMs !== undefined && this.#subjects.size < this.#max) {
      this.#subjects.set(subject, { last: answer, used: this.#now() })
      this.#stopTimer ??= this.#wake()
    }
  }

  /** Gives back all that is left. Never rejects. */
  async close(): Promise<void> {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const all = [...this.#subjects.values()]
    this.#subjects.clear()
    await Promise.all(
      all.map(async (known) => {
        await known.pending
        await this.#giveBack(known)
      }),
    )
  }

  #spend({ lease }: KnownSubject, cost: number): AnswerBody | undefined {
    const now = this.#now()
    if (lease === undefined || now >= lease.until || lease.units < cost) return undefined
    lease.units -= cost
    lease.spent += cost
    const { id, ...answer } = laterAnswer(lease.answer, now - lease.answered) as ReserveAnswerBody
    const left = (remaining: number | null): number | null =>
      remaining === null ? null : remaining + lease.units
    const policies = answer.policies.map((each) => ({ ...each, remaining: left(each.remaining) }))
    return { ...answer, remaining: left(answer.remaining), policies }
  }

  #sizeOf({ last }: KnownSubject): number {
    if (last?.leaseMs === undefined || last.remaining === null) return 0
    return Math.min(this.#units, Math.floor(last.remaining / (2 * this.#clients)))
  }

  /** Never rejects: where nothing can be had ahead, the service is asked for each. */
  async #take(known: KnownSubject, subject: string, size: number): Promise<void> {
    await this.#giveBack(known)
    const asked = this.#now()
    const ttlMs = Math.max(1, Math.min(MOST_TTL_MS, Math.ceil(known.last?.leaseMs ?? 0)))
    try {
      const answer = await this.#calls.reserve(subject, size, ttlMs)
      known.last = answer
      const { id, leaseMs } = answer
      if (id === null) return
      if (leaseMs === undefined) return void (await this.#calls.commit(id, 0).catch(() => undefined))
      known.lease = {
        answer: { ...answer, id },
        answered: this.#now(),
        until: asked + leaseMs,
        units: size,
        spent: 0,
      }
    } catch {
      known.last = undefined
    }
  }

  /** Settles at what was spent. What does not arrive is missing until the window ends. Never rejects. */
  async #giveBack(known: KnownSubject): Promise<void> {
    const { lease } = known
    known.lease = undefined
    if (lease === undefined || lease.units === 0 || this.#now() >= lease.until) return
    await this.#calls.commit(lease.answer.id, lease.spent).catch(() => undefined)
  }

  #wake(): () => void {
    return startTimer(() => this.#sweep(), this.#idle / 2, { unref: true })
  }

  #sweep(): void {
    const since = this.#now() - this.#idle
    for (const [subject, known] of this.#subjects) {
      if (known.used > since || known.pending !== undefined) continue
      this.#subjects.delete(subject)
      void this.#giveBack(known)
    }
    this.#stopTimer = this.#subjects.size === 0 ? undefined : this.#wake()
  }
}
