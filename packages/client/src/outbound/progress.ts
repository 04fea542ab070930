import type { CallParts } from './outbound-call.ts'
import type { OutboundCalls } from './outbound-calls.ts'

/** How far many calls are. */
interface ProgressReport {
  readonly done: number
  readonly total: number
  /** Milliseconds until the rest can be through, as the limits have it; infinite where they never will. */
  readonly etaMs: number
}

export interface CallProgress {
  /** One more is done, or so many. */
  tick(calls?: number): void
  report(): Promise<ProgressReport>
}

/** Counts calls that are like this one. */
export function progressOf(calls: OutboundCalls, parts: CallParts, total: number): CallProgress {
  if (!Number.isSafeInteger(total) || total < 0)
    throw new TypeError('total must be a whole number, 0 or more')
  let done = 0
  return {
    tick(more = 1) {
      done = Math.min(total, done + more)
    },
    async report() {
      return { done, total, etaMs: await calls.foreseenMs(parts, total - done) }
    },
  }
}
