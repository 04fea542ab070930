/** Durations as text, and timers and pauses that last for any of them. */
export { type Duration, TICKS_PER_MS, ticksOf } from './core/time.ts'
export { type Pause, type PauseEnd, startPause } from './flow/pause.ts'
export { startTimer, type TimerOptions, type Timers } from './flow/timers.ts'
