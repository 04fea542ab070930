import type { Change, Comparison } from '@sluice/lab'
import { counted, grouped } from '../counted.ts'
import { printable } from '../printable.ts'

const LONGEST = 80

/** A comparison as Markdown that fits a pull request. @param traffic what was replayed, such as a file's name */
export function comparisonMarkdown(comparison: Comparison, traffic: string): string {
  const { requests, unreadable, late, old, new: proposed, newlyDenied, newlyAdmitted } = comparison
  return [
    `## Rules, old and new, on ${code(traffic)}`,
    '',
    `${counted(requests, 'request')}, ${counted(unreadable, 'unreadable line')}${late > 0 ? `, ${grouped(late)} too far out of order` : ''}.`,
    '',
    ...table(
      ['', 'old', 'new'],
      [
        ['refused', countAndShare(old.denied, requests), countAndShare(proposed.denied, requests)],
        ...policyRows(comparison),
      ],
    ),
    '',
    ...changeLines('Newly refused', newlyDenied, 'refused by'),
    '',
    ...changeLines('Newly admitted', newlyAdmitted, 'was refused by'),
    '',
  ].join('\n')
}

function policyRows({ old, new: proposed }: Comparison): string[][] {
  const names = [...new Set([...old.policies, ...proposed.policies].map(({ name }) => name))]
  return names.map((name) => [
    `over ${code(name)}`,
    ...[old, proposed].map(({ policies }) => {
      const own = policies.find((policy) => policy.name === name)
      return own === undefined ? '–' : `${grouped(own.denied)} of ${grouped(own.matched)}`
    }),
  ])
}

function changeLines(title: string, change: Change, refusedBy: string): string[] {
  const { requests, share, keys, first, last, worst, byPolicy, topKeys, topRoutes } = change
  if (requests === 0) return [`### ${title}: none`]
  return [
    `### ${title}: ${counted(requests, 'request')} (${percent(share)}), ${counted(keys, 'key')}`,
    '',
    `First ${first}, last ${last}; worst minute ${worst!.minute} with ${grouped(worst!.requests)}.`,
    '',
    ...table(
      [refusedBy, 'requests'],
      byPolicy.map((row) => [code(row.policy), grouped(row.requests)]),
    ),
    '',
    ...table(
      ['key', 'of', 'requests'],
      topKeys.map(({ key, policy, requests: times }) => [
        key === '' ? '(everyone)' : code(key),
        code(policy),
        grouped(times),
      ]),
    ),
    '',
    ...table(
      ['route', 'requests'],
      topRoutes.map((row) => [code(row.route), grouped(row.requests)]),
    ),
  ]
}

/** A table in Markdown: the first column to the left. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((cell, i) => Math.max(3, cell.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)]
}

/** Text of a log between backticks, where it can neither end them nor part the table. */
export function code(text: string): string {
  const shown = printable(text, LONGEST).replaceAll('`', "'").replaceAll('|', '¦')
  return `\`${shown === '' ? ' ' : shown}\``
}

/** `12 (1.20 %)`. */
export function countAndShare(count: number, all: number): string {
  return `${grouped(count)} (${percent(all === 0 ? 0 : count / all)})`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
