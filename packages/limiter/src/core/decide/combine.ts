import type { StatedFigures } from './figures.ts'
import { canRefuse } from './role.ts'
import type { Step } from './step.ts'

/** What one step says, for itself. */
interface StepVerdict {
  readonly allowed: boolean
  /** Microseconds for which the rule's block still refuses. */
  readonly blocked?: number | true
}

/**
 * Whether a request is admitted, given what each of its steps says for itself.
 * @example
 * admitted(steps, outcome.figures)
 */
export function admitted(steps: readonly Step[], verdicts: readonly StepVerdict[]): boolean {
  let quotas = 0
  let quotasOver = 0
  for (let i = 0; i < steps.length; i++) {
    const { role } = steps[i]!.rule
    if (!canRefuse(role)) continue
    const { allowed, blocked } = verdicts[i]!
    if (blocked) return false // on its own account, also within a quota
    if (role === 'enforce') {
      if (!allowed) return false
    } else {
      quotas++
      if (!allowed) quotasOver++
    }
  }
  return quotas === 0 || quotasOver < quotas
}

/**
 * The index of the policy that decided, of all or of those that `counts` lets in; −1 when there is none. On a
 * refusal: the longest wait of those that refuse (never is the longest); else the least remaining, if any is known.
 * Ties go to the first.
 * @example
 * const a = { allowed: true, remaining: 3, retryAfterMs: 0 }
 * const b = { allowed: false, remaining: 0, retryAfterMs: 500 }
 * binding([a, b], false) // 1
 */
export function binding(
  figures: readonly Decisive[],
  allowed: boolean,
  counts?: (index: number) => boolean,
): number {
  let best = -1
  for (let i = 0; i < figures.length; i++) {
    if (counts?.(i) === false || (!allowed && figures[i]!.allowed)) continue
    if (best < 0 || (allowed ? lower(figures[i]!, figures[best]!) : later(figures[i]!, figures[best]!)))
      best = i
  }
  return best
}

type Decisive = Pick<StatedFigures, 'allowed' | 'remaining' | 'retryAfterMs'>

function lower(a: Decisive, b: Decisive): boolean {
  if (b.remaining === null) return a.remaining !== null
  return a.remaining !== null && a.remaining < b.remaining
}

function later(a: Decisive, b: Decisive): boolean {
  if (b.retryAfterMs === null) return false
  return a.retryAfterMs === null || a.retryAfterMs > b.retryAfterMs
}
