import { randomUUID } from 'node:crypto'
import { bindingStep, type Decision, tarpitOf } from '@sluice/limiter/decide'
import type { AnsweredLayer, Observer } from '@sluice/limiter/events'
import { type Timers, WaitingRoom } from '@sluice/limiter/gate'
import type { Pipeline, Question, Reply } from '@sluice/limiter/pipeline'
import type { KeyVerbs } from '@sluice/observe/parts'
import type { LiveRules, Reload } from '../rules/live-rules.ts'
import type { Stores } from '../stores.ts'
import { TurnEnd } from '../turn-end.ts'
import { oneKeyVerbs } from './one-key.ts'
import { type ReservationIds, reservationIds } from './reservation-id.ts'
import { type ReservedAnswer, reserve } from './reserve.ts'
import { type ActualCosts, settle } from './settle.ts'
import { type CheckWithin, checkWithin } from './within.ts'

/**
 * All that the service does, without any transport: one translates what it received into these, calls, and translates
 * the answer. Requests are decided in the order in which they are asked. Faults are thrown as OperationError,
 * BadQuestion, UnknownDomain or StoreError.
 */
export interface Operations extends KeyVerbs {
  check(question: Question): Promise<Reply>
  /** Decides questions that came together, each by itself and in order: for each its reply, or why it has none. */
  checkEach(questions: readonly Question[], peek: boolean): Promise<readonly (Reply | Unanswered)[]>
  /** The same for a proxy, which waits for `ms` milliseconds: rules then go by their `on_store_error`. */
  checkWithin(question: Question, ms: number): Promise<Reply>
  peek(question: Question): Promise<Reply>
  /** Charges an estimate, to be settled by `commit` or `cancel`. */
  reserve(question: Question, ttlMs: number): Promise<ReservedAnswer>
  commit(id: string, actual: ActualCosts): Promise<void>
  cancel(id: string): Promise<void>
  /** Holds an answer back as long as refusals in it ask for, where not too many are held already. */
  hold(decisions: readonly Decision[]): Promise<unknown> | undefined
  /** Forgets what a request's keys have used. @returns the names of the policies */
  reset(question: Question): Promise<readonly string[]>
  /** Reads the rulebook again. With a mistake in it the rules in force stay. */
  reload(): Promise<Reload>
}

/** What was thrown in the place of a reply. */
export interface Unanswered {
  readonly error: unknown
}

export interface OperationParts {
  readonly pipeline: Pipeline<boolean>
  readonly stores: Pick<Stores, 'store' | 'fallback'>
  readonly rules: LiveRules
  /** Encrypts the ids of reservations: see ServiceOptions. */
  readonly secret?: string | undefined
  readonly observe: Observer
  /** Keeps the request that is served now, for what it does after it has waited. */
  readonly carry?: (() => <T>(go: () => T) => T) | undefined
  /** How long refusals are held back by limits that do not say: milliseconds or text. Default: not at all. */
  readonly tarpit?: number | string | undefined
  readonly timers?: Timers | undefined
  /** Once it is aborted, answers that are held back are sent. */
  readonly leaving?: AbortSignal | undefined
}

/** Answers held back at once; others are sent without delay. */
const MAX_HELD = 1_000

/** @throws ConfigError for a tarpit above a minute */
export function createOperations(parts: OperationParts): Operations {
  const { pipeline, stores, rules, secret, observe, carry, timers = globalThis as unknown as Timers } = parts
  const tarpitMs = parts.tarpit === undefined ? 0 : tarpitOf(parts.tarpit)
  const room = new WaitingRoom(MAX_HELD, timers)
  const within: CheckWithin = checkWithin({ pipeline, stores, observe, timers })
  const ids: ReservationIds = reservationIds(secret)
  const node = randomUUID()
  const turn = new TurnEnd()
  const answered = ({ domain }: Question, began: number, layer: AnsweredLayer = 'service'): void =>
    observe({ type: 'answered', domain, ms: performance.now() - began, layer })
  const timed = async <T>(
    question: Question,
    answer: () => T | Promise<T>,
    layer?: AnsweredLayer,
  ): Promise<T> => {
    const began = performance.now()
    const given = await answer()
    answered(question, began, layer)
    return given
  }
  /** Goes on at the end of this turn, within the request that is served now; at once where that saves nothing. */
  const atTurnEnd = async <T>(go: () => T): Promise<T> => {
    const end = turn.ended()
    if (end === undefined) return go()
    const inRequest = carry?.()
    await end
    return inRequest === undefined ? go() : inRequest(go)
  }
  // A store outside this process gathers what is asked by itself.
  const gathers = stores.store.async
  return {
    check(question) {
      if (gathers) return timed(question, () => pipeline.check(question))
      const began = performance.now()
      return atTurnEnd(() => {
        const reply = pipeline.check(question) as Reply
        answered(question, began)
        return reply
      })
    },
    checkEach(questions, peek) {
      const ask = peek ? pipeline.peek : pipeline.check
      const unanswered = (error: unknown): Unanswered => ({ error })
      if (gathers) {
        const asked = questions.map((question) => timed(question, () => ask(question)).catch(unanswered))
        return Promise.all(asked)
      }
      const began = performance.now()
      return atTurnEnd(() =>
        questions.map((question) => {
          try {
            const reply = ask(question) as Reply
            answered(question, began)
            return reply
          } catch (error) {
            return unanswered(error)
          }
        }),
      )
    },
    checkWithin: (question, ms) => timed(question, () => within(question, ms), 'edge'),
    peek: (question) => timed(question, () => pipeline.peek(question)),
    reserve: (question, ttlMs) => timed(question, () => reserve(pipeline, ids, node, question, ttlMs)),
    commit: (id, actual) => settle(pipeline, ids, node, id, actual),
    cancel: (id) => settle(pipeline, ids, node, id, undefined),
    hold(decisions) {
      let longest = 0
      for (const decision of decisions) {
        if (decision.allowed) continue
        longest = Math.max(longest, bindingStep(decision)?.rule.tarpitMs ?? tarpitMs)
      }
      return longest > 0 && room.enter() ? room.wait(longest, parts.leaving) : undefined
    },
    reset: async (question) => pipeline.reset(question),
    ...oneKeyVerbs(pipeline, () => rules.live!.rules),
    reload: () => rules.reload(),
  }
}
