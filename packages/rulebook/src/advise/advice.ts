import type { Position } from '@sluice/limiter/errors'

/** What is wrong about a rule that is right otherwise. */
export type AdviceKind =
  | 'window-on-login'
  | 'open-login'
  | 'user-without-address'
  | 'lease-on-small-limit'
  | 'one-limit-for-all-routes'

/** A rule that does what it says, and probably not what is needed. */
export interface Advice extends Position {
  readonly kind: AdviceKind
  /** The rule's name; a descriptor without one by its key and value. */
  readonly rule: string
  readonly reason: string
  /** What to write. */
  readonly instead: string
}
