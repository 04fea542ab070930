import type { PolicyReport, SimulationReport, Unreadable } from '@sluice/lab'
import { counted, grouped } from '../counted.ts'
import { printable } from '../printable.ts'

const HEAD = ['policy', 'requests', 'admitted', 'denied', 'share']

/** A report to read. */
export function simulationText(report: SimulationReport): string {
  const rows = report.policies.map(({ name, matched, admitted, denied, deniedShare }) => [
    printable(name),
    grouped(matched),
    grouped(admitted),
    grouped(denied),
    `${(deniedShare * 100).toFixed(2)} %`,
  ])
  return [
    ...readLines(report),
    '',
    ...aligned([HEAD, ...rows]),
    ...report.policies.flatMap(notesOf),
    '',
  ].join('\n')
}

/** What was read, and what could not be. */
function readLines({
  requests,
  unreadable,
  unreadableLines,
  late,
}: Pick<SimulationReport, 'requests' | 'unreadable' | 'unreadableLines' | 'late'>): string[] {
  return [
    `${counted(requests, 'request')}, ${counted(unreadable, 'unreadable line')}`,
    ...unreadableLines.map((line) => `  ${placeOf(line)}: ${printable(line.reason, 120)}`),
    ...(unreadable > unreadableLines.length ? ['  …'] : []),
    ...(late > 0
      ? [`${counted(late, 'request')} too far out of order, decided at the time reached (see --held-lines)`]
      : []),
  ]
}

function placeOf({ file, line }: Unreadable): string {
  return file === undefined ? `line ${line}` : `${printable(file)}, line ${line}`
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
