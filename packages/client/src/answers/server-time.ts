import { type HeaderLookup, readHttpDate } from '@sluice/limiter/respond'

const SECOND = 1_000

/**
 * The server's wall clock when it answered, in milliseconds since the epoch: what instants in the answer are compared
 * with. `Date` is in whole seconds. Where the reader's clock agrees with it, that is the better figure, up to the end of
 * that second; where it does not, the start of the second gives the longest wait that can be meant.
 * @param nowMs the reader's wall clock
 */
export function serverTime(headers: HeaderLookup, nowMs: number): number {
  const date = readHttpDate(headers('date')?.trim() ?? '', nowMs)
  if (date === undefined) return nowMs
  const start = date * SECOND
  const ahead = nowMs - start
  return ahead >= 0 && ahead < 2 * SECOND ? start + Math.min(ahead, SECOND) : start
}
