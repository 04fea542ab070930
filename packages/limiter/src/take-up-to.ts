import type { Decision, PolicyFigures } from './core/decide/decision.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'

/** What was charged of what was asked for. */
export interface Taken<D extends Decision = Decision> {
  /** Whole; 0 where nothing is left, and then nothing was charged. */
  readonly cost: number
  /** Of that cost; where it is 0, the refusal of what was asked for. */
  readonly decision: D
}

/**
 * Charges the largest cost up to `most` that is admitted. Another process can take what was seen to remain: then it
 * looks again.
 */
export function takeUpTo<Async extends boolean, D extends Decision>(
  peek: (cost: number) => MaybePromise<D, Async>,
  check: (cost: number) => MaybePromise<D, Async>,
  most: number,
): MaybePromise<Taken<D>, Async> {
  return andThen<D, Taken<D>, Async>(peek(most), (seen) => {
    // Not the decision's own figure: that of the policy with the longest wait.
    const left = seen.policies.filter(({ shadow }) => !shadow).map(leftOf)
    const cost = seen.allowed ? most : Math.min(most, ...left)
    if (cost === 0) return { cost, decision: seen }
    const taken = andThen<D, Taken<D>, Async>(check(cost), (decision) =>
      decision.allowed ? { cost, decision } : (takeUpTo(peek, check, most) as Taken<D>),
    )
    return taken as Taken<D>
  }) as MaybePromise<Taken<D>, Async>
}

/** Without the store a policy that is `open` admits any cost, and one that is `closed` none. */
function leftOf({ allowed, remaining }: PolicyFigures): number {
  return remaining ?? (allowed ? Number.POSITIVE_INFINITY : 0)
}
