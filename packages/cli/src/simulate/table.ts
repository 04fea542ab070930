import { counted, grouped } from '../counted.ts'
import { printable } from '../printable.ts'
import type { PolicyReport, SimulationReport } from './report.ts'

const HEAD = ['policy', 'requests', 'admitted', 'denied', 'share']

/** A report to read. */
export function tableOf(report: SimulationReport): string {
  const rows = report.policies.map(({ name, matched, admitted, denied, deniedShare }) => [
    printable(name),
    grouped(matched),
    grouped(admitted),
    grouped(denied),
    `${(deniedShare * 100).toFixed(2)} %`,
  ])
  return [
    `${counted(report.requests, 'request')}, ${counted(report.unreadable, 'unreadable line')}`,
    ...report.unreadableLines.map(({ line, reason }) => `  line ${line}: ${printable(reason, 120)}`),
    ...(report.unreadable > report.unreadableLines.length ? ['  …'] : []),
    ...(report.late > 0
      ? [
          `${counted(report.late, 'request')} too far out of order, decided at the time reached (see --held-lines)`,
        ]
      : []),
    '',
    ...aligned([HEAD, ...rows]),
    ...report.policies.flatMap(notesOf),
    '',
  ].join('\n')
}

function notesOf({ name, missingKey, top }: PolicyReport): string[] {
  const missing = counted(missingKey, 'request')
  return [
    ...(top.length > 0 ? ['', `Most denied by ${printable(name)}:`] : []),
    ...aligned(
      top.map(({ key, denied }) => [`  ${key === '' ? '(everyone)' : printable(key)}`, grouped(denied)]),
    ),
    ...(missingKey > 0 ? ['', `Passed over by ${printable(name)}, for want of its key: ${missing}`] : []),
  ]
}

/** The first column to the left, figures to the right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  return rows.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  )
}
