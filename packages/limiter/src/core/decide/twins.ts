import type { Algorithm } from './algorithm.ts'
import { concurrencyTwin } from './concurrency/concurrency.lua.ts'
import { concurrency } from './concurrency/concurrency.ts'
import { calendarWindowTwin } from './fixed-window/calendar-window.lua.ts'
import { calendarWindow } from './fixed-window/calendar-window.ts'
import { fixedWindowTwin } from './fixed-window/fixed-window.lua.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { gcra } from './gcra/gcra.ts'
import { leakyBucketTwin } from './leaky-bucket/leaky-bucket.lua.ts'
import { leakyBucket } from './leaky-bucket/leaky-bucket.ts'
import { levelTwin } from './level.lua.ts'
import { slidingWindowCounterTwin } from './sliding-window-counter/sliding-window-counter.lua.ts'
import { slidingWindowCounter } from './sliding-window-counter/sliding-window-counter.ts'
import { slidingWindowLogTwin } from './sliding-window-log/sliding-window-log.lua.ts'
import { slidingWindowLog } from './sliding-window-log/sliding-window-log.ts'
import { intervalTwin } from './token-bucket/interval.lua.ts'
import { intervalBucket } from './token-bucket/interval.ts'
import { tokenBucket } from './token-bucket/token-bucket.ts'
import type { Twin } from './twin.ts'

/** The twin of every algorithm that has one. The others are decided in this process, by compare-and-swap. */
export const twins: ReadonlyMap<Algorithm, Twin> = new Map<Algorithm, Twin>([
  [tokenBucket, levelTwin],
  [gcra, levelTwin],
  [leakyBucket, leakyBucketTwin],
  [intervalBucket, intervalTwin],
  [fixedWindow, fixedWindowTwin],
  [calendarWindow, calendarWindowTwin],
  [slidingWindowLog, slidingWindowLogTwin],
  [slidingWindowCounter, slidingWindowCounterTwin],
  [concurrency, concurrencyTwin],
])
