import type { Plan } from './algorithm.ts'

/**
 * One policy's part in a request.
 *
 * `role` says what a refusal means: `enforce` refuses the request; `quota` refuses it only when every `quota`
 * step of the request does; `shadow` never does, it only reports; `guard` stands right behind the step that it
 * belongs to, refuses on its own account, and is told when the step at `watches` refuses. A guard's cost is 1, or
 * 0 where the request only looks.
 */
export interface Step {
  readonly plan: Plan
  /** Namespace of the counter: the policy's identity. Together with `plan.kind` and `key` it names one state. */
  readonly policy: string
  /** Whose: one identity, one spelling (core/identify/compose.ts). */
  readonly key: string
  /** Whole, ≥ 0. */
  readonly cost: number
  readonly role: 'enforce' | 'quota' | 'shadow' | 'guard'
  readonly watches?: number | undefined
  /** Where the cost is from: a number of the rule's or the descriptor's own, or a measure that the rule reads. Default: the request's. */
  readonly costFrom?: 'rule' | 'measure'
  /** Shifts this key's windows by so many microseconds, so that not everyone resets at once. */
  readonly phase?: number
  /** What becomes of the step while the store is slow or gone (stores/fallback.ts). Default `open`. */
  readonly onStoreError?: 'open' | 'closed' | 'local' | undefined
  /** Names the charge for `refund` where instants do not (concurrency): a random whole number ≥ 1. */
  readonly lease?: number
  /** Units, ≥ 2, that a node may take ahead of this state and then grant by itself (stores/prepaid.ts). */
  readonly ahead?: number | undefined
}

/** Whether a step holds something that its request gives back when it ends, whatever it cost. */
export function isLease({ plan }: Pick<Step, 'plan'>): boolean {
  return plan.algorithm.leases === true
}
