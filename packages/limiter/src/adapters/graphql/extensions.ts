/** What servers put into the answer with a refusal. */
export interface RefusalExtensions {
  readonly code: 'RATE_LIMITED'
  /** Whole seconds; absent when no wait helps. */
  readonly retryAfter?: number
  /** Read by Apollo and Yoga: the status of the whole response. */
  readonly http: { readonly status: number }
}

export function extensionsOf(status: number, retryAfter: number | undefined): RefusalExtensions {
  return {
    code: 'RATE_LIMITED',
    ...(retryAfter === undefined ? undefined : { retryAfter }),
    http: { status },
  }
}
