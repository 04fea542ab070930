/** Of answers: from 50 µs to a second. One is at 1 ms, the most that a limiter should add. */
export const SECONDS_BUCKETS: number[] = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
]
