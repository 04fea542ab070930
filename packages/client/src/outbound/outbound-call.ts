import type { Decision } from '@sluice/limiter'
import type { Step } from '@sluice/limiter/decide'
import { type TurnRefusal, Waiter, type WaiterTurns } from '@sluice/limiter/flow'
import type { Answer } from '../answers/answer-reader.ts'
import { Throttled, type ThrottledReason } from '../retry/throttled.ts'
import type { Allowance, CallCosts, SentCall } from './allowance.ts'
import { BudgetExceeded } from './budget-exceeded.ts'
import type { OutboundCost, OutboundRequest } from './outbound-request.ts'
import type { Route } from './route.ts'

const REASONS: Readonly<Record<Exclude<TurnRefusal, 'never' | 'unwilling'>, ThrottledReason>> = {
  full: 'full',
  late: 'wait',
  draining: 'draining',
}

/** What happens to a call, which is kept account of for all of them. */
export interface CallKeeper {
  readonly turns: WaiterTurns
  /** Whether the end of its answer matters. */
  watches(call: OutboundCall): boolean
  serve(call: OutboundCall, decision: Decision): void
  left(
    call: OutboundCall,
    why: TurnRefusal | undefined,
    decision: Decision | undefined,
    waitMs: number | null,
  ): void
  answered(call: OutboundCall, answer: Answer): void
  lost(call: OutboundCall, error: unknown): void
  ended(call: OutboundCall, actual: OutboundCost | undefined): void
}

/** What a call is made of, for whichever transport sends it. */
export interface CallParts {
  readonly calls: CallKeeper
  readonly allowance: Allowance
  readonly steps: readonly Step[]
  readonly cost: OutboundCost | undefined
  readonly priority: number
  readonly until: number
  readonly signal: AbortSignal | undefined
  /** Kept only where something asks for it later. */
  readonly request: OutboundRequest | undefined
}

/**
 * One call, from its arrival to the end of its answer. A transport says how it is sent, and calls `answered` or `lost`,
 * and `ended`.
 */
export abstract class OutboundCall extends Waiter implements CallCosts {
  readonly calls: CallKeeper
  readonly allowance: Allowance
  readonly cost: OutboundCost | undefined
  readonly request: OutboundRequest | undefined
  /** When it began to wait, in whole milliseconds of its keeper; 0: it did not. */
  since = 0
  sent: SentCall | undefined = undefined
  /** The turn that it took of all processes, after a pause. */
  turn: Decision | undefined = undefined

  constructor(parts: CallParts) {
    super(parts.steps, parts.priority, parts.until, parts.signal)
    this.calls = parts.calls
    this.allowance = parts.allowance
    this.cost = parts.cost
    this.request = parts.request
  }

  get turns(): WaiterTurns {
    return this.calls.turns
  }

  get flow(): string {
    return this.allowance.flow
  }

  get route(): Route {
    return this.allowance.route
  }

  get destination(): string {
    return this.allowance.destination
  }

  /** Sends it. */
  abstract start(): void
  abstract resolve(value: unknown): void
  /** A promise that is resolved by a rejected one is rejected: calls keep one function instead of two. */
  reject(error: unknown): void {
    this.resolve(Promise.reject(error))
  }

  costOf(name: string): number {
    const { cost } = this
    return typeof cost === 'object' && Object.hasOwn(cost, name) ? (cost[name] ?? 1) : 1
  }

  override waits({ policy }: Decision): boolean {
    return this.route.modeOf(policy) === 'queue'
  }

  served(decision: Decision): void {
    this.calls.serve(this, decision)
  }

  refused(why: TurnRefusal, decision: Decision | undefined, waitMs: number | null): void {
    this.calls.left(this, why, decision, waitMs)
    const mode = decision === undefined ? 'queue' : this.route.modeOf(decision.policy)
    if (mode === 'degrade' && this.route.destination.fallback !== undefined) this.#fallBack(decision!)
    else if (mode !== 'queue' || why === 'never') this.reject(new BudgetExceeded(decision!))
    else
      this.reject(
        new Throttled({ reason: REASONS[why as keyof typeof REASONS], retryAfterMs: waitMs ?? undefined }),
      )
  }

  failed(error: unknown): void {
    this.calls.left(this, undefined, undefined, null)
    this.reject(error)
  }

  /** The answer has begun. */
  answered(answer: Answer): void {
    this.calls.answered(this, answer)
  }

  /** No answer came. */
  lost(error: unknown): void {
    this.calls.lost(this, error)
  }

  /** The answer has ended, also where it was left before. @param actual what it really cost, where that is known */
  ended(actual?: OutboundCost): void {
    this.calls.ended(this, actual)
  }

  #fallBack(decision: Decision): void {
    try {
      this.resolve(this.route.destination.fallback!(this.request!, decision))
    } catch (error) {
      this.reject(error)
    }
  }
}
