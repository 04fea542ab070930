import type { Subject as Named } from '../decide/decision.ts'
import type { OnLimit, OnStoreError } from './rule.ts'

/** The rule behind a step, as far as those downstream need it. Made once, when rules are compiled. */
export interface Subject extends Named {
  readonly onLimit: OnLimit
  readonly mode: 'enforce' | 'shadow'
  readonly onStoreError: OnStoreError
  /** Share, 0–1, by which Retry-After may be lengthened. */
  readonly jitter?: number
}
