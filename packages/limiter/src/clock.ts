import { checkOptions, having, type OptionCheck } from './core/options.ts'

/** Tells the time in whole microseconds since the Unix epoch. */
export interface Clock {
  now(): number
}

/** What a clock in options has to have. */
export const clockCheck: OptionCheck = /* @__PURE__ */ having('a clock', 'now')

/**
 * The process's monotonic clock, set to the wall clock once: it never steps, whatever an administrator or NTP does
 * to the wall clock. It may lag behind it by the time that the machine was suspended.
 * @example
 * const clock = monotonicClock()
 * clock.now() // microseconds since the epoch
 */
export function monotonicClock(): Clock {
  const own = performance // looked up once: to find the global takes longer than to ask it
  const origin = own.timeOrigin * 1_000
  return { now: () => Math.floor(origin + own.now() * 1_000) }
}

/**
 * Reads a clock once in each turn of the event loop: all that is decided in one turn is decided at one instant. The figures are
 * exact for it. For a process that decides much in each turn: to read a clock takes a quarter to a third of the time of
 * `allow`. A turn that takes long makes waits longer by as much, never shorter.
 * @param clock the one that is read
 * @throws ConfigError for what is no clock
 * @example
 * const store = new MemoryStore({ clock: turnClock() })
 */
export function turnClock(clock: Clock = monotonicClock()): Clock {
  checkOptions(clock, clockCheck)
  const soon = globalThis.setImmediate ?? ((callback: () => void) => setTimeout(callback))
  let now = 0
  let isRead = false
  const forget = (): void => {
    isRead = false
  }
  return {
    now() {
      if (!isRead) {
        now = clock.now()
        isRead = true
        soon(forget)
      }
      return now
    },
  }
}

/**
 * Whole milliseconds since the Unix epoch by the wall clock, which is read once a second: in between, the monotonic
 * clock goes on. Who has just asked that one hands in its answer: on a busy server a clock takes as long as the rest of
 * a small decision.
 */
export function wallClock(): (at?: number) => number {
  const monotonic = monotonicClock()
  let ahead = 0
  let until = 0
  return (at = monotonic.now()) => {
    const now = Math.floor(at / 1_000)
    if (now >= until) {
      ahead = Date.now() - now
      until = now + 1_000
    }
    return ahead + now
  }
}
