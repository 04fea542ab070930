import type { OffenderList } from '@sluice/limiter/offenders'
import {
  decisionsOf,
  keyWords,
  type LivePolicy,
  type LiveSummary,
  msText,
  overLimit,
  perSecondText,
  policyWords,
  shareText,
  verdictOf,
  wholeText,
} from '@sluice/observe/live'
import { printable } from '../printable.ts'

/** Marks for the share of decisions: the more, the higher. */
const MARKS = [' ', '▁', '▂', '▄', '▆', '█']
const MOST_KEYS = 5

/** One picture of what a service does: lines for a terminal, at most `height` of them and `width` wide. */
export function frameOf(
  summary: LiveSummary,
  offenders: readonly OffenderList[],
  { width, height }: { readonly width: number; readonly height: number },
): readonly string[] {
  const { seconds, all, denied, degraded, latency, policies } = summary
  const verdict = verdictOf(summary, offenders).map((part) =>
    typeof part === 'string' ? part : printable(part.name),
  )
  const keys = keyLines(offenders)
  const rows = Math.max(1, height - keys.length - 7)
  const lines = [
    verdict.join(''),
    '',
    [
      `requests ${wholeText(all)} (${perSecondText(all / Math.max(1, seconds))}/s)`,
      `refused ${wholeText(denied)} (${shareText(denied, all)})`,
      `takes ${msText(latency?.p50 ?? null)}, 99 % ${msText(latency?.p99 ?? null)}`,
      `without the store ${wholeText(degraded)}`,
    ].join('   '),
    '',
    ...aligned([
      ['limit, last minute', 'requests', 'over it', 'share', 'how full: 0 to 100 %, over'],
      ...policies.slice(0, rows).map(rowOf),
    ]),
    ...(keys.length === 0 ? [] : ['', ...keys]),
  ]
  return lines.slice(0, height).map((line) => line.slice(0, width).trimEnd())
}

function rowOf(policy: LivePolicy): readonly string[] {
  const over = overLimit(policy)
  const words = policy.limited > 0 || over === 0 ? '' : policy.shadow > 0 ? ' (shadow)' : ' (low priority)'
  return [
    printable(policyWords(policy), 40) + words,
    wholeText(decisionsOf(policy)),
    wholeText(over),
    shareText(over, decisionsOf(policy)),
    fullnessText(policy.fullness),
  ]
}

function fullnessText(bins: readonly number[]): string {
  const all = bins.reduce((sum, count) => sum + count, 0)
  const marks = bins.map((count) =>
    count === 0 ? '·' : MARKS[Math.ceil((count / all) * (MARKS.length - 1))]!,
  )
  return `${marks.slice(0, -1).join('')} ${marks.at(-1)}`
}

function keyLines(offenders: readonly OffenderList[]): readonly string[] {
  const rows = offenders
    .flatMap((list) => list.denied.keys.map((each) => ({ ...each, policy: policyWords(list) })))
    .sort((a, b) => b.atMost - a.atMost)
    .slice(0, MOST_KEYS)
    .map(({ key, policy, atLeast, atMost }) => [
      printable(keyWords(key), 40),
      atLeast === atMost ? wholeText(atMost) : `${wholeText(atLeast)}–${wholeText(atMost)}`,
      printable(policy, 40),
    ])
  return rows.length === 0 ? [] : aligned([['most over the limit, 5 minutes', 'times', 'limit'], ...rows])
}

/** Texts to the left, figures to the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const last = rows[0]!.length - 1
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 || i === last ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  '),
  )
}
