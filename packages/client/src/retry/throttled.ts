import { SluiceError } from '@sluice/limiter/errors'

/**
 * Why a call was not made, or not made again: its turn would come later than the call may wait (`wait`), too many calls
 * wait already (`full`), its backend refuses more than it accepts (`overload`), a limit of ours is used up (`limit`), or
 * no new calls are taken (`draining`).
 */
export type ThrottledReason = 'wait' | 'full' | 'overload' | 'limit' | 'draining'

export interface ThrottledOptions {
  readonly reason: ThrottledReason
  readonly retryAfterMs?: number | undefined
  /** The limit that it is over. */
  readonly policy?: string
  /** What the server answered, where this call was sent. */
  readonly response?: unknown
}

/**
 * A call that is given up since it would have to wait too long, or would only add to a backend's load:
 * `ERR_SLUICE_THROTTLED`.
 * @example
 * if (error instanceof Throttled && error.local) console.log(`not sent; again in ${error.retryAfterMs} ms`)
 */
export class Throttled extends SluiceError {
  readonly reason: ThrottledReason
  /** It was refused here, by what the server answered to calls before it. */
  readonly local: boolean
  /** Milliseconds after which it is of use to call again; absent where that is not known. */
  readonly retryAfterMs: number | undefined
  /** The server's answer, unread, where there is one. */
  readonly response: unknown

  constructor({ reason, retryAfterMs, policy, response }: ThrottledOptions) {
    const again = retryAfterMs === undefined ? '' : `; call again in ${Math.ceil(retryAfterMs)} ms`
    const which = policy === undefined ? '' : ` ${JSON.stringify(policy)}`
    super('ERR_SLUICE_THROTTLED', `${MESSAGES[reason]}${which}${again}`)
    this.reason = reason
    this.local = response === undefined
    this.retryAfterMs = retryAfterMs
    this.response = response
  }
}

const MESSAGES: Readonly<Record<ThrottledReason, string>> = {
  wait: 'its turn would come later than the call may wait',
  full: 'too many calls wait already',
  limit: 'not sent: it is over the limit',
  draining: 'no new calls are taken',
  overload: 'not sent: the server refuses more calls than it accepts',
}
