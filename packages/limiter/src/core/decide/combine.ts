import type { Figures } from './figures.ts'
import type { Step } from './step.ts'

/** Whether a request is admitted, given what each of its steps says alone. */
export function admitted(
  steps: readonly Step[],
  verdicts: readonly { readonly allowed: boolean }[],
): boolean {
  let quotas = 0
  let quotasOver = 0
  for (let i = 0; i < steps.length; i++) {
    const { role } = steps[i]!
    if (role === 'shadow') continue
    const passes = verdicts[i]!.allowed
    if (role === 'quota') {
      quotas++
      if (!passes) quotasOver++
    } else if (!passes) return false
  }
  return quotas === 0 || quotasOver < quotas
}

/**
 * The index of the policy that decided, of all or of those that `counts` lets in; −1 when there is none. On a
 * refusal: the longest wait of those that refuse (never is the longest); else the least remaining. Ties go to the
 * first.
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

type Decisive = Pick<Figures, 'allowed' | 'remaining' | 'retryAfterMs'>

function lower(a: Decisive, b: Decisive): boolean {
  return a.remaining < b.remaining
}

function later(a: Decisive, b: Decisive): boolean {
  if (b.retryAfterMs === null) return false
  return a.retryAfterMs === null || a.retryAfterMs > b.retryAfterMs
}
