import { ok } from 'node:assert/strict'
import type { Dialect, Report } from '@sluice/limiter/respond'
import fc from 'fast-check'
import {
  holdToListed,
  holdToNames,
  holdToNow,
  holdToPure,
  holdToVisible,
  holdToWhole,
} from './dialect/lines.ts'
import { arrived, holdToBounds, holdToRefusal, holdToReport } from './dialect/reading.ts'
import { plainReports, reports, strangeReports } from './dialect/reports.ts'
import { LONG_TEXTS, textsFor } from './dialect/texts.ts'
import { optional, required } from './dialect/worked-cases.ts'
import type { Runner } from './runner.ts'

export interface DialectSuiteOptions {
  /** Cases for each property. Default: `SLUICE_RUNS`, or 500. */
  readonly runs?: number
}

/** Registers tests of one kind under the seed and the number of runs that all of them share. */
interface DialectBench {
  readonly make: () => Dialect
  test(title: string, body: () => void): void
  holds<T>(title: string, cases: fc.Arbitrary<T>, check: (one: T) => void): void
}

/**
 * Holds a header dialect to what every dialect must keep: what it may write, that it says the same of the same report,
 * that it rounds a wait up and shows the policy that refused, and that it reads back what it said, and any other text
 * without failing. Worked cases, and random reports with figures of any size. A header that `read` does not use is held
 * to its form alone, not to the report.
 *
 * `SLUICE_SEED` replays the reports of an earlier run.
 *
 * @param make a new dialect each time, or the same where it keeps nothing
 * @example
 * dialectSuite({ describe, it }, () => myDialect)
 */
export function dialectSuite(
  { describe, it }: Runner,
  make: () => Dialect,
  { runs: numRuns = Number(process.env.SLUICE_RUNS ?? 500) }: DialectSuiteOptions = {},
): void {
  const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
  const test: DialectBench['test'] = (title, body) => void it(title, body, 600_000)
  const bench: DialectBench = {
    make,
    test,
    holds: (title, cases, check) =>
      test(title, () =>
        fc.assert(
          fc.property(cases, (one) => check(one)),
          { numRuns, seed },
        ),
      ),
  }
  describe(`${make().name}, as any dialect (SLUICE_SEED=${seed})`, () => {
    testLines(bench)
    testPolicies(bench)
    testReading(bench)
  })
}

function testLines({ make, test, holds }: DialectBench): void {
  const both = fc.tuple(strangeReports, strangeReports)
  test('has a name, and lists the headers that it sends', () => holdToNames(make()))
  test('sends nothing where there is no policy', () => {
    for (const allowed of [true, false]) {
      const none: Report = { allowed, policies: [], cost: 1, nowMs: 1_700_000_000_250 }
      ok(make().headers(none).length === 0, 'sends headers of a report without policies')
    }
  })
  holds('sends only headers that it lists, each of them once', strangeReports, (report) =>
    holdToListed(make(), report),
  )
  holds('sends printable ASCII in one line, whatever a policy is called', strangeReports, (report) =>
    holdToVisible(make(), report),
  )
  holds('writes whole numbers, of figures of any size', plainReports, (report) => holdToWhole(make(), report))
  holds('depends on the report alone, and leaves it as it is', both, ([report, other]) =>
    holdToPure(make, report, other),
  )
  holds('keeps nothing of a report that is changed later', both, ([report, other]) =>
    holdToNow(make, report, other),
  )
}

function testPolicies({ make, test, holds }: DialectBench): void {
  for (const [title, report] of Object.entries(required)) {
    test(`reports ${title}`, () => {
      ok(make().headers(report).length > 0, 'sends no headers')
      holdToReport(make(), report, 'times')
      holdToRefusal(make(), report)
    })
  }
  for (const [title, report] of Object.entries(optional)) {
    test(`is right about ${title}, or sends nothing`, () => holdToReport(make(), report, 'times'))
  }
  holds('reports, of a refusal, a policy that refused', reports, (report) => holdToRefusal(make(), report))
}

function testReading({ make, test, holds }: DialectBench): void {
  holds('reads back limits and what remains, exactly', reports, (report) =>
    holdToReport(make(), report, 'counts'),
  )
  holds('reads back no time that is too short, or a second too long', reports, (report) =>
    holdToReport(make(), report, 'times'),
  )
  holds(
    'reads any text without failing, and gives no figure that cannot be',
    fc.tuple(textsFor(make()), fc.double({ min: 0, max: 1e16, noNaN: true })),
    ([lines, nowMs]) => holdToBounds(make().read(arrived(lines), nowMs)),
  )
  test('reads texts of any length, and gives no more than 100 policies', () => {
    for (const text of LONG_TEXTS) holdToBounds(make().read(() => text, 0))
    for (const length of [100, 101, 250]) {
      const policies = Array.from({ length }, (_, i) => ({
        ...required['an admitted request']!.policies[0]!,
        policy: `${i}`,
      }))
      const lines = make().headers({ allowed: true, policies, cost: 1, nowMs: 0 })
      holdToBounds(make().read(arrived(lines), 0))
    }
  })
}
