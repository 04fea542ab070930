import type { WireError } from '@sluice/limiter/wire'
import type { AllLimits, LimitNames, NamesOfLimits, ServiceQuestion } from './limit-names.ts'
import type { ReservedServiceAnswer, ServiceAnswer } from './service-answer.ts'
import type { OnServiceError } from './service-client-options.ts'
import type { ProblemError } from './service-errors.ts'

export interface AskOptions {
  /** Ends the wait: the promise rejects with the signal's reason. A question that was not sent yet is not asked. */
  readonly signal?: AbortSignal
  /** In place of the client's. */
  readonly onError?: OnServiceError
}

export interface ReserveAskOptions extends AskOptions {
  /** Milliseconds in which it can be settled, 1 to 86,400,000. Default 60,000. */
  readonly ttlMs?: number
}

/** What a reserved request really cost: whole numbers from 0 to 2^53 − 1. */
export interface ReservedCosts<Name extends string = string> {
  readonly cost?: number
  readonly costs?: { readonly [N in Name]?: number }
}

/**
 * Asks `sluice serve`. `check`, `peek`, `reserve` and `batch` reject with WireError or ProblemError for a question that
 * cannot be decided as it stands, with TypeError for options that there are not, and with the reason of a signal that
 * aborted; never because the service fails: then `onError` decides, and the answer is `degraded`. Where that is `local`,
 * they reject with what `local` throws.
 */
export interface ServiceClient<L extends LimitNames = LimitNames, Default extends string = string> {
  /** Decides one request, and charges it. */
  check<D extends keyof L & string = Default & keyof L>(
    question: ServiceQuestion<L, D>,
    options?: AskOptions,
  ): Promise<ServiceAnswer<NamesOfLimits<L[D]>>>
  /** What `check` would answer; changes nothing. */
  peek<D extends keyof L & string = Default & keyof L>(
    question: ServiceQuestion<L, D>,
    options?: AskOptions,
  ): Promise<ServiceAnswer<NamesOfLimits<L[D]>>>
  /** Several, each decided by itself; for each its answer, or what is wrong with it. They travel together. */
  batch<D extends keyof L & string = Default & keyof L>(
    questions: readonly ServiceQuestion<L, D>[],
    options?: AskOptions,
  ): Promise<readonly (ServiceAnswer<NamesOfLimits<L[D]>> | WireError | ProblemError)[]>
  /** Charges an estimate, to be settled by `commit` or `cancel`. */
  reserve<D extends keyof L & string = Default & keyof L>(
    question: ServiceQuestion<L, D>,
    options?: ReserveAskOptions,
  ): Promise<ReservedServiceAnswer<NamesOfLimits<L[D]>>>
  /**
   * Settles a reservation at its actual cost. False where there is nothing to settle: it is settled already, its time is
   * over, or `id` is null. Rejects with ServiceError, since a correction must not get lost unnoticed.
   */
  commit(id: string | null, actual: ReservedCosts<AllLimits<L>>): Promise<boolean>
  /** Gives a reservation back; the same otherwise. */
  cancel(id: string | null): Promise<boolean>
  /** Gives back what was taken ahead. Never rejects. The client can be used on. */
  close(): Promise<void>
}
