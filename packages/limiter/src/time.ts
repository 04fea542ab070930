/** Durations as text, and timers that run for any of them. */
export { type Duration, TICKS_PER_MS, ticksOf } from './core/time.ts'
export { startTimer, type TimerOptions, type Timers } from './flow/timers.ts'
