/** Tells the time in whole microseconds since the Unix epoch. */
export interface Clock {
  now(): number
}

/**
 * The process's monotonic clock, set to the wall clock once: it never steps, whatever an administrator or NTP does
 * to the wall clock. It may lag behind it by the time that the machine was suspended.
 */
export function monotonicClock(): Clock {
  const own = performance // looked up once: to find the global takes longer than to ask it
  const origin = own.timeOrigin * 1_000
  return { now: () => Math.floor(origin + own.now() * 1_000) }
}

/**
 * Milliseconds since the Unix epoch by the wall clock, which is read once a second: in between, the monotonic clock
 * goes on. Asked right after another, that one costs next to nothing.
 */
export function wallClock(): () => number {
  const own = performance
  let ahead = 0
  let until = 0
  return () => {
    const now = own.now()
    if (now >= until) {
      ahead = Date.now() - now
      until = now + 1_000
    }
    return ahead + now
  }
}
