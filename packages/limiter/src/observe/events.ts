import type { Decision } from '../core/decide/decision.ts'
import type { Subject } from '../core/match/subject.ts'

/** All that happens, to whom it may concern. Whatever watches subscribes to this one union. */
export type Event =
  | {
      readonly type: 'decided'
      readonly domain: string
      readonly decision: Decision
      /** The rules behind `decision.policies`, by name. */
      readonly subjects: readonly Subject[]
      /** Only looked: nothing was charged. */
      readonly peek: boolean
    }
  /** A rule that was skipped because the request lacks a part of its key. */
  | { readonly type: 'key-missing'; readonly domain: string; readonly policy: string }
  | { readonly type: 'store-failed'; readonly domain: string; readonly error: unknown }

export type Observer = (event: Event) => void
