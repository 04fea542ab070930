import type { AlgorithmSuggestion, KeyAbove, SuggestedPoint, Suggestion } from '@sluice/lab'
import { counted, grouped } from '../counted.ts'
import { printable } from '../printable.ts'
import { aligned, readLines } from './simulation-text.ts'

/** A suggestion to read; the rule stands at its end. */
export function suggestionText(suggestion: Suggestion): string {
  const { met, allowance, unlimited, demand, algorithms, above, notes, rule } = suggestion
  return [
    ...readLines(suggestion),
    '',
    `${counted(met.requests, 'request')} of ${counted(met.keys, 'key')} in ${counted(met.sessions, 'session')}; at most ${percent(allowance.share)} of ${allowance.of} may be refused: ${grouped(allowance.most)}`,
    `Without a limit at most ${grouped(unlimited.peakRate)} pass in a second, and ${grouped(unlimited.worstBurst)} of one key.`,
    '',
    ...aligned([
      ['each key at its busiest', 'median', '99 %', '99.9 %', 'most'],
      ...demand.map(({ seconds, p50, p99, p99_9, max }) => [
        `in ${WINDOWS[seconds] ?? `${seconds} s`}`,
        ...[p50, p99, p99_9, max].map(grouped),
      ]),
    ]),
    '',
    ...frontierLines(alike(algorithms)),
    '',
    '* lets one key have the least in a minute; replayed. passed: the most in a second; of one key: the same.',
    ...notes.map((note) => `Note: ${note}.`),
    ...aboveLines(above),
    '',
    ...(rule === null ? ['No rule.'] : [rule.trimEnd()]),
    '',
  ].join('\n')
}

const WINDOWS: Readonly<Record<number, string>> = { 1: 'a second', 60: 'a minute', 3600: 'an hour' }
const HEAD = ['  limit', 'burst', 'refused', 'keys', 'share', 'one less', 'passed', 'of one key']

interface Alike extends Pick<AlgorithmSuggestion, 'points' | 'chosen'> {
  readonly names: string[]
}

/** Algorithms that admit the same, as the buckets do, are shown once. */
function alike(algorithms: readonly AlgorithmSuggestion[]): Alike[] {
  const groups = new Map<string, Alike>()
  for (const { algorithm, points, chosen } of algorithms) {
    const id = JSON.stringify(points)
    const group = groups.get(id) ?? { names: [], points, chosen }
    group.names.push(algorithm)
    groups.set(id, group)
  }
  return [...groups.values()]
}

/** One table; the names of algorithms stand above their rows. */
function frontierLines(groups: readonly Alike[]): string[] {
  const [head, ...lines] = aligned([
    HEAD,
    ...groups.flatMap(({ points, chosen }) => points.map((point) => pointRow(point, isSame(point, chosen)))),
  ])
  return [
    head!,
    ...groups.flatMap(({ names, points }) => [names.join(', '), ...lines.splice(0, points.length)]),
  ]
}

function pointRow(
  { limit, burst, period, denied, share, oneLowerShare, peakRate, worstBurst }: SuggestedPoint,
  isChosen: boolean,
): string[] {
  return [
    `${isChosen ? '*' : ' '} ${limit}/${period}`,
    burst === undefined ? '' : String(burst),
    grouped(denied.requests),
    grouped(denied.keys),
    percent(share),
    percent(oneLowerShare),
    grouped(peakRate),
    grouped(worstBurst),
  ]
}

function isSame(point: SuggestedPoint, chosen: SuggestedPoint | null): boolean {
  return point.limit === chosen?.limit && point.burst === chosen.burst && point.period === chosen.period
}

function aboveLines(above: readonly KeyAbove[]): string[] {
  if (above.length === 0) return []
  return [
    '',
    'Refused by the rule below:',
    ...above.map(
      ({ key, requests, denied, peakMinute, servedBy, reasons }) =>
        `  ${key === '' ? '(everyone)' : printable(key)}: ${grouped(denied)} of ${grouped(requests)}, ${grouped(peakMinute)} in its busiest minute; a limit of ${grouped(servedBy)} would serve it${reasons.length > 0 ? `. Like a machine: ${reasons.join(', ')}` : ''}`,
    ),
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
