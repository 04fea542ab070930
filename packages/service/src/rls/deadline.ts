import type { Metadata } from '@grpc/grpc-js'

/** Milliseconds for which a call may be decided, where the caller does not say: Envoy waits 20 ms, then lets pass. */
export const DEFAULT_DEADLINE_MS = 15
/** Milliseconds of the caller's time that are left for the way back. */
const WAY_BACK_MS = 5
/** In whole milliseconds: Envoy's own time-out for the call. */
const EXPECTED = 'x-envoy-expected-rq-timeout-ms'

/**
 * For how long a call may be decided, in milliseconds, at least 1: what the caller says, less the way back.
 * @param deadline of `grpc-timeout`: infinite where the caller sends none
 * @param defaultMs where the caller says nothing
 * @param now milliseconds since the epoch
 */
export function withinMsOf(
  deadline: Date | number,
  metadata: Pick<Metadata, 'get'>,
  defaultMs: number,
  now: number,
): number {
  const told = [Number(deadline) - now]
  const [expected] = metadata.get(EXPECTED)
  if (expected !== undefined && /^\d{1,9}$/.test(String(expected))) told.push(Number(expected))
  const least = Math.min(...told)
  return Number.isFinite(least) ? Math.max(1, least - WAY_BACK_MS) : defaultMs
}
