import { randomUUID } from 'node:crypto'
import { binding, type Step } from '@sluice/limiter/decide'
import type { Outcome, Store } from '@sluice/limiter/stores/store'
import { FakeClock, stepFor } from '@sluice/limiter/testing'
import type { Expectation, Scenario, Vectors } from './vectors.ts'

export interface VectorReport {
  /** Steps, not scenarios. */
  readonly passed: number
  readonly failed: number
  /** The first ten steps that differ. */
  readonly differences: readonly Difference[]
}

export interface Difference {
  readonly scenario: string
  /** Counts from 0, as in the file. */
  readonly step: number
  /** Only the figures that differ. */
  readonly expected: Expectation
  readonly actual: Expectation
}

/**
 * Runs every scenario against one store, in a namespace of its own, and removes what it left there.
 * @param makeStore the store under test, keeping the time of `clock` in place of its own; it is closed at the end
 * @example
 * const vectors = parseVectors(await readFile('vectors/gcra.json', 'utf8'))
 * const { failed, differences } = await runVectors(vectors, (clock) => new MemoryStore({ clock }))
 */
export async function runVectors(
  vectors: Vectors,
  makeStore: (clock: FakeClock) => Store | Promise<Store>,
): Promise<VectorReport> {
  const clock = new FakeClock()
  const store = await makeStore(clock)
  const run = randomUUID()
  const report = { passed: 0, failed: 0, differences: [] as Difference[] }
  try {
    for (const [i, scenario] of vectors.scenarios.entries()) {
      await runScenario(scenario, `${run}/${i}`, store, clock, report)
    }
  } finally {
    await store.close()
  }
  return report
}

async function runScenario(
  scenario: Scenario,
  namespace: string,
  store: Store,
  clock: FakeClock,
  report: { passed: number; failed: number; differences: Difference[] },
): Promise<void> {
  const keys = new Set<string>()
  try {
    for (const [i, { at, key, cost, expect }] of scenario.steps.entries()) {
      keys.add(key)
      clock.set(at)
      const outcome = await store.decide(stepsOf(scenario, namespace, key, cost), false)
      const difference = compare(expect, scenario.combined ? combined(outcome) : single(outcome))
      if (difference === undefined) report.passed++
      else {
        report.failed++
        if (report.differences.length < 10) {
          report.differences.push({ scenario: scenario.name, step: i, ...difference })
        }
      }
    }
  } finally {
    for (const key of keys) {
      for (const step of stepsOf(scenario, namespace, key, 0)) await store.reset(step)
    }
  }
}

function stepsOf(scenario: Scenario, namespace: string, key: string, cost: number): Step[] {
  return scenario.plans.map((plan, i) => stepFor(plan, { namespace: `${namespace}/${i}`, key, cost }))
}

function single({ figures }: Outcome): Expectation {
  const { allowed, limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, delayMs } = figures[0]!
  return {
    allowed,
    limit,
    remaining,
    retry_after_us: inMicroseconds(retryAfterMs),
    more_after_us: inMicroseconds(moreAfterMs),
    reset_after_us: inMicroseconds(resetAfterMs),
    delay_us: inMicroseconds(delayMs),
  }
}

function combined({ allowed, figures }: Outcome): Expectation {
  const index = binding(figures, allowed)
  return {
    allowed,
    binding: index,
    retry_after_us: inMicroseconds(figures[index]!.retryAfterMs),
    remaining: Math.min(...figures.map(({ remaining }) => remaining!)),
  }
}

function inMicroseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1_000)
}

/** The figures that differ, of those that the file states; `undefined` when none does. */
function compare(
  expected: Expectation,
  actual: Expectation,
): { expected: Expectation; actual: Expectation } | undefined {
  const wrong = Object.keys(expected).filter((figure) => expected[figure] !== actual[figure])
  if (wrong.length === 0) return undefined
  const pick = (of: Expectation): Expectation =>
    Object.fromEntries(wrong.map((figure) => [figure, of[figure]!]))
  return { expected: pick(expected), actual: pick(actual) }
}
