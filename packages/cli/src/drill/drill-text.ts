import type { DrillReport } from '@sluice/lab'
import { counted } from '../counted.ts'
import { textColumns } from '../load/text-columns.ts'
import { printable } from '../printable.ts'

/** What differs from what the rules state, in words. */
export function problemsIn({ failures, events }: DrillReport): string[] {
  return [
    ...failures.flatMap(({ failure, rules }) => named(failure, rules)),
    ...events.flatMap(({ event, rules }) => named(event, rules)),
  ]
}

function named(
  cause: string,
  rules: readonly { readonly rule: string; readonly problems: readonly string[] }[],
): string[] {
  return rules.flatMap(({ rule, problems }) =>
    problems.map((each) => `${printable(rule)}, ${cause}: ${each}`),
  )
}

/** A report to read. */
export function drillTextOf(report: DrillReport): string {
  const { failures, events, passed } = report
  const problems = problemsIn(report)
  const rows = failures.flatMap(({ failure, rules }) =>
    rules.map(({ rule, stated, seen, longestMs, over, exactAfterMs }) => [
      failure,
      printable(rule),
      stated,
      seen ?? '–',
      `${longestMs.toFixed(0)} ms`,
      String(over),
      exactAfterMs === undefined ? 'never' : `${exactAfterMs.toFixed(0)} ms`,
    ]),
  )
  const head = ['failure', 'rule', 'states', 'seen', 'longest', 'above', 'exact after']
  const wrong = events.map(
    ({ event, means, rules }) =>
      `${event}: ${means}: ${counted(
        rules.reduce((sum, each) => sum + each.wrong, 0),
        'wrong decision',
      )}`,
  )
  return [
    ...textColumns([head, ...rows]),
    ...(wrong.length === 0 ? [] : ['', ...wrong]),
    ...passed.map(({ name, reason }) => `${printable(name)} is not tried: ${printable(reason, 120)}`),
    '',
    ...(problems.length === 0 ? ['ok'] : problems.map((each) => `! ${each}`)),
    '',
  ].join('\n')
}
