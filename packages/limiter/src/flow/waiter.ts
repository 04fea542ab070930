import type { Decision } from '../core/decide/decision.ts'
import type { Step } from '../core/decide/step.ts'
import { SluiceError } from '../core/errors.ts'
import type { Due } from './agenda.ts'

/** How urgent a call is, as RFC 9218 (urgency) counts: 0 comes first. */
const PRIORITIES = 8
/** RFC 9218's default. */
const DEFAULT_PRIORITY = 3

/**
 * Why a call does not wait, or no longer: `full` no place is free, `late` it cannot be served in time, `never` no wait
 * helps, `unwilling` it does not want to wait, `draining` no new calls are taken.
 */
export type TurnRefusal = 'full' | 'late' | 'never' | 'unwilling' | 'draining'

/**
 * No place was free to wait, or no new calls are taken: `ERR_SLUICE_QUEUE_FULL`.
 * @example
 * if (error instanceof QueueFull && error.retryAfterMs !== null) later(error.retryAfterMs)
 */
export class QueueFull extends SluiceError {
  /** Milliseconds until a place may be free; `null`: never. */
  readonly retryAfterMs: number | null

  constructor(why: TurnRefusal, retryAfterMs: number | null) {
    super('ERR_SLUICE_QUEUE_FULL', WHY[why])
    this.retryAfterMs = retryAfterMs
  }
}

/** In words. */
const WHY: Readonly<Record<TurnRefusal, string>> = {
  full: 'too many wait already',
  late: 'its turn would come too late',
  never: 'no wait helps',
  unwilling: 'it is over its limit, and does not wait',
  draining: 'no new calls are taken',
}

/**
 * A priority, or the default.
 * @throws TypeError for what is none
 * @example
 * checkedPriority(undefined) // 3
 */
export function checkedPriority(priority: number = DEFAULT_PRIORITY): number {
  if (Number.isInteger(priority) && priority >= 0 && priority < PRIORITIES) return priority
  throw new TypeError(`priority must be a whole number from 0 to ${PRIORITIES - 1}`)
}

/** What is known of the wait of one who leaves. */
export interface KnownWait {
  readonly waitMs: number
  readonly decision: Decision | undefined
}

/** What a waiter says to those that it waits with. */
export interface WaiterTurns {
  leave(waiter: Waiter, why: TurnRefusal | undefined, known?: KnownWait): void
  waiterDue(waiter: Waiter): void
}

/** Where a waiter is. */
export type Stage = 'new' | 'waiting' | 'asked' | 'delayed' | 'gone'

/**
 * One who waits. Kept small, for there may be 100,000: no closures, no timer of its own, and steps that it shares with
 * others where they are the same.
 * @example
 * class Job extends Waiter { … }
 * turns.enter(new Job(steps, 3, turns.now() + 5_000, undefined))
 */
export abstract class Waiter implements Due {
  /** What it asks for. Waiters with the same rules, keys and costs come to share one list. */
  steps: readonly Step[]
  /** Who shares fairly with others what all of them need. */
  abstract readonly flow: string
  /** Where it waits. */
  abstract readonly turns: WaiterTurns
  /** 0, which comes first, to 7. */
  readonly priority: number
  readonly signal: AbortSignal | undefined
  stage: Stage = 'new'
  /** In the order of arrival. */
  seq = 0
  /** Whether its wait was foreseen. */
  looked = false
  place = -1
  /** What is free at the very instant at which its time is over is served. */
  get isLast(): boolean {
    return true
  }
  /**
   * Milliseconds by the clock of the turns: after it the call is of no use. It may be infinite. Of one that is admitted
   * and delayed: when its turn comes.
   */
  at: number
  /** A Lane, of the turns alone. */
  lane: object | undefined = undefined
  before: Waiter | undefined = undefined
  after: Waiter | undefined = undefined
  /** Of an admitted one, while its algorithm delays it. */
  decision: Decision | undefined = undefined

  constructor(steps: readonly Step[], priority: number, until: number, signal: AbortSignal | undefined) {
    this.steps = steps
    this.priority = priority
    this.at = until
    this.signal = signal
  }

  /** Its turn has come. */
  abstract served(decision: Decision): void
  /**
   * It is not served.
   * @param decision the last refusal, where there was one
   * @param waitMs how long it would take at least; `null`: no wait helps
   */
  abstract refused(why: TurnRefusal, decision: Decision | undefined, waitMs: number | null): void
  /** The store failed, or the signal aborted. */
  abstract failed(error: unknown): void
  /** Whether it waits, after a refusal. */
  waits(_decision: Decision): boolean {
    return true
  }

  /** The signal aborted. */
  handleEvent(): void {
    this.turns.leave(this, undefined)
  }

  due(): void {
    this.turns.waiterDue(this)
  }
}
