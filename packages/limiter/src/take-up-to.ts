import type { Decision } from './core/decide/decision.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'

/** What was charged of what was asked for. */
export interface Taken<Name extends string = string> {
  /** Whole; 0 where nothing is left, and then nothing was charged. */
  readonly cost: number
  /** Of that cost; where it is 0, the refusal of what was asked for. */
  readonly decision: Decision<Name>
}

/**
 * Charges the largest cost up to `most` that is admitted. Another process can take what was seen to remain: then it
 * looks again.
 */
export function takeUpTo<Async extends boolean>(
  peek: (cost: number) => MaybePromise<Decision, Async>,
  check: (cost: number) => MaybePromise<Decision, Async>,
  most: number,
): MaybePromise<Taken, Async> {
  return andThen<Decision, Taken, Async>(peek(most), (seen) => {
    // Not the decision's own figure: that of the policy with the longest wait.
    const left = seen.policies.filter(({ shadow }) => !shadow).map(({ remaining }) => remaining)
    const cost = seen.allowed ? most : Math.min(most, ...left)
    if (cost === 0) return { cost, decision: seen }
    const taken = andThen<Decision, Taken, Async>(check(cost), (decision) =>
      decision.allowed ? { cost, decision } : (takeUpTo(peek, check, most) as Taken),
    )
    return taken as Taken
  }) as MaybePromise<Taken, Async>
}
