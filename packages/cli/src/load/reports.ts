import { FAULTS, type Finding, type LoadFigures, type PassedRule, type RuleResult } from '@sluice/lab'
import { counted, grouped } from '../counted.ts'
import { printable } from '../printable.ts'
import { textColumns } from './text-columns.ts'

export interface LoadReport extends LoadFigures {
  readonly findings: readonly Finding[]
  readonly breaches: readonly string[]
}

/** What breaks the limit, in words. */
export function breachesIn(figures: LoadFigures, findings: readonly Finding[], isLimiter: boolean): string[] {
  const { overAdmission: over, wrongRefusals, refusalsWithoutWait, statuses } = figures
  const breaches: string[] = []
  if (over !== undefined && over.atLeast > 0)
    breaches.push(`${counted(over.atLeast, 'request')} more than the limit were admitted`)
  if (wrongRefusals > 0)
    breaches.push(`${counted(wrongRefusals, 'request')} were refused although there was room`)
  if (isLimiter && refusalsWithoutWait > 0)
    breaches.push(`${counted(refusalsWithoutWait, 'refusal')} did not say how long to wait`)
  if (isLimiter && (statuses[503] ?? 0) > 0)
    breaches.push(`${counted(statuses[503]!, 'answer')} had 503 instead of 429`)
  return [...breaches, ...foundOf(findings)]
}

function foundOf(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ found, fault, evidence }) => (found ? [`${fault}: ${evidence}`] : []))
}

export function loadTextOf(report: LoadReport): string {
  const { sent, unsent, admitted, refused, failed, unanswered, seconds, throughput, latencyMs, lateMs } =
    report
  const { overAdmission: over, statuses, breaches } = report
  return [
    `${counted(sent, 'request')} in ${seconds.toFixed(1)} s: ${grouped(admitted)} admitted, ${grouped(refused)} refused, ${grouped(failed)} failed${unanswered > 0 ? `, ${grouped(unanswered)} unanswered` : ''}`,
    `answers a second   ${grouped(Math.round(throughput))}`,
    `statuses           ${Object.entries(statuses)
      .map(([status, count]) => `${status === '0' ? 'none' : status}: ${grouped(count)}`)
      .join(', ')}`,
    ...(latencyMs === undefined
      ? []
      : [
          `latency, ms        p50 ${shown(latencyMs.p50)}, p99 ${shown(latencyMs.p99)}, p99.9 ${shown(latencyMs.p999)}, max ${shown(latencyMs.max)}`,
        ]),
    `behind schedule    ${shown(lateMs)} ms at most${unsent > 0 ? `; ${counted(unsent, 'request')} not sent: too many were under way` : ''}`,
    ...(over === undefined
      ? []
      : [
          `above the limit    at least ${grouped(over.atLeast)}, at most ${grouped(over.atMost)}${over.atMost > 0 ? `, by ${printable(over.key)}` : ''}`,
          `wrongly refused    ${grouped(report.wrongRefusals)}`,
          ...(report.unchecked > 0
            ? [`not checked        ${counted(report.unchecked, 'request')}: too many keys`]
            : []),
        ]),
    ...(report.findings.length === 0
      ? []
      : [
          `answers            ${report.findings.map(({ fault, found }) => `${fault}: ${found === undefined ? 'not tried' : found ? 'yes' : 'no'}`).join(', ')}`,
        ]),
    ...verdictOf(breaches),
  ].join('\n')
}

export function faultsTextOf(findings: readonly Finding[], seconds: number): string {
  const rows = findings.map(({ fault, found, evidence }) => {
    const mark = found === undefined ? '?' : found ? '!' : 'ok'
    return `${mark.padEnd(3)} ${fault.padEnd(21)} ${found ? `${FAULTS[fault]}: ${evidence}` : evidence}`
  })
  const count = findings.filter(({ found }) => found).length
  return [...rows, '', `${counted(count, 'fault')} found in ${seconds.toFixed(0)} s`, ''].join('\n')
}

export function rulesTextOf(results: readonly RuleResult[], passed: readonly PassedRule[]): string {
  const rows = results.map(({ name, burst, acrossEdge, steady, breaches }) => [
    printable(name),
    `${grouped(burst.admitted)} of ${grouped(burst.asked)}`,
    acrossEdge === undefined ? '–' : `${grouped(acrossEdge.admitted)} of ${grouped(acrossEdge.asked)}`,
    `${grouped(steady.admitted)} of ${grouped(steady.asked)}`,
    breaches.length === 0 ? 'ok' : 'broken',
  ])
  const head = ['rule', 'burst', 'across an edge', 'steady', '']
  return [
    ...textColumns([head, ...rows]),
    ...passed.map(({ name, reason }) => `${printable(name)} is not tried: ${printable(reason, 120)}`),
    ...verdictOf(
      results.flatMap(({ name, breaches }) => breaches.map((each) => `${printable(name)}: ${each}`)),
    ),
  ].join('\n')
}

function verdictOf(breaches: readonly string[]): string[] {
  return ['', ...(breaches.length === 0 ? ['ok'] : breaches.map((each) => `! ${each}`)), '']
}

function shown(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0)
}
