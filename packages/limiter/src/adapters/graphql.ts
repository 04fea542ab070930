import type { DocumentNode } from 'graphql'
import { ConfigError, SluiceError } from '../core/errors.ts'
import { createGate } from './gate/gate.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import { checkGateOptions } from './gate/options/fields.ts'
import type { GateOptions } from './gate/options/options.ts'
import { withoutOutcomes } from './gate/options/settings.ts'
import type { RateLimitInfo } from './gate/verdict/info.ts'
import { retryAfterOf } from './gate/verdict/verdict.ts'
import { extensionsOf, type RefusalExtensions } from './graphql/extensions.ts'
import { operationCost } from './graphql/operation-cost.ts'

export { operationCost, type RateLimitInfo }

/** An operation that is about to be executed, as GraphQL servers know it. */
export interface Operation<C> {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly context: C
}

/** Options whose functions are given the server's context and the operation. `cost` is by default `operationCost`. */
export type GraphqlOptions<C> = GateOptions<[context: C, operation: Operation<C>]>

/**
 * Thrown in place of an operation's execution: `ERR_SLUICE_LIMIT_EXCEEDED`. Its `extensions` are what servers put into
 * the answer.
 * @example
 * if (error instanceof OperationRefused) console.log(error.extensions.retryAfter) // seconds
 */
export class OperationRefused extends SluiceError {
  readonly extensions: RefusalExtensions

  constructor(status: number, retryAfter: number | undefined) {
    super(
      'ERR_SLUICE_LIMIT_EXCEEDED',
      retryAfter === undefined ? 'over the limit' : `over the limit: retry after ${retryAfter} s`,
    )
    this.extensions = extensionsOf(status, retryAfter)
  }
}

/**
 * Limits operations by what they ask for. To be called where the server has parsed and checked an operation and has
 * not begun it: `didResolveOperation` of Apollo, `onExecute` of Envelop and Yoga. What it returns rejects with
 * OperationRefused over the limit.
 * @throws ConfigError for invalid options
 * @example
 * const limit = rateLimit({ limit: 1_000, period: '1m', key: ({ user }) => user })
 * await limit({ document, context: { user: 'ada' } })
 */
// biome-ignore lint/suspicious/noExplicitAny: plain JavaScript cannot name its context
export function rateLimit<C = any, const Text extends string = string>(
  options: GraphqlOptions<C> & CheckedDurations<Text>,
): (operation: Operation<C>) => Promise<RateLimitInfo> {
  checkGateOptions(options)
  const { key, keyGenerator, address, rules } = options
  if ((key ?? keyGenerator ?? address ?? rules) === undefined) {
    throw new ConfigError('an operation does not tell who sent it: give key or address')
  }
  withoutOutcomes(options)
  const gate = createGate<[C, Operation<C>]>({ cost: (_, operation) => operationCost(operation), ...options })
  return async (operation) => {
    const args: [C, Operation<C>] = [operation.context, operation]
    const verdict = await gate.enter({
      args,
      method: 'POST',
      url: '/graphql',
      host: undefined,
      peer: undefined,
      headers: {},
      request: {},
    })
    await verdict.wait()
    const { refusal, info } = verdict
    if (refusal === undefined) return info
    throw new OperationRefused(refusal.status, retryAfterOf(verdict))
  }
}
