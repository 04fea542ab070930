import { deepEqual } from 'node:assert/strict'
import type { Policy } from '@sluice/limiter'
import { type Figures, planOf } from '@sluice/limiter/algorithms'
import { stateUnderTest } from './subject.ts'

/** 2026-01-01T00:00:00Z, in microseconds. */
const MIDNIGHT = 1_767_225_600_000_000

/** Seconds after a midnight (UTC), or a time of that day such as `2:00:58`. */
type At = number | string

/**
 * Sends one key requests, and compares the results with the third column: see {@link replay}.
 * @throws AssertionError for a row whose result differs
 * @example
 * workedExample({ algorithm: 'token-bucket', limit: 2, period: '1s' }, [
 *   [0, 2, '0 left'],
 *   [0.25, 1, 'wait 250 ms'],
 * ])
 */
export function workedExample(
  policy: Policy,
  rows: readonly (readonly [at: At, cost: number, expected: string])[],
): void {
  const results = replay(policy, rows)
  const actual = rows.map(([at, cost], i) => [at, cost, results[i]])
  deepEqual(actual, rows)
}

/**
 * Sends one key requests, and says in short what becomes of each: `3 left`, `3 left, in 2000 ms` where it queues,
 * `wait 500 ms`, or `never`. A cost not given is 1.
 * @example
 * replay({ algorithm: 'token-bucket', limit: 2, period: '1s' }, [[0, 2], [0.25]]) // ['0 left', 'wait 250 ms']
 */
export function replay(
  policy: Policy,
  requests: readonly (readonly [at: At, cost?: number, ...rest: unknown[]])[],
): string[] {
  const state = stateUnderTest(planOf(policy))
  return requests.map(([at, cost = 1], i) =>
    resultText(state.decide(MIDNIGHT + Math.round(secondsAt(at) * 1_000_000), cost, i + 1)),
  )
}

function secondsAt(at: At): number {
  if (typeof at === 'number') return at
  return at.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0)
}

function resultText({ allowed, remaining, retryAfterMs, delayMs }: Figures): string {
  if (allowed) return delayMs === 0 ? `${remaining} left` : `${remaining} left, in ${delayMs} ms`
  return retryAfterMs === null ? 'never' : `wait ${retryAfterMs} ms`
}
