import { grouped } from '../counted.ts'
import { code, countAndShare, table } from '../lab/comparison-markdown.ts'
import { aligned } from '../lab/simulation-text.ts'
import { printable } from '../printable.ts'
import type { LivePolicyFigures, ShadowDomain, ShadowReport } from './shadow-figures.ts'

/** A report to read. */
export function shadowText(report: ShadowReport): string {
  return report.domains
    .flatMap((domain) => [
      `${printable(domain.domain)}: ${sinceText(domain, report)}`,
      '',
      ...aligned([HEAD, ...domain.policies.map((policy) => [printable(policy.policy), ...cellsOf(policy)])]),
      ...domain.policies.flatMap(({ policy, shadow, keys }) =>
        shadow && keys.length > 0
          ? [
              '',
              `Most over ${printable(policy)}, of the last day:`,
              ...aligned(
                keys.map(({ key, denied }) => [`  ${printable(key) || '(everyone)'}`, grouped(denied)]),
              ),
            ]
          : [],
      ),
      '',
    ])
    .join('\n')
}

/** The same as Markdown. */
export function shadowMarkdown(report: ShadowReport): string {
  return report.domains
    .flatMap((domain) => [
      `## Rules in shadow mode, of ${code(domain.domain)}`,
      '',
      `${sinceText(domain, report)}.`,
      '',
      ...table(
        HEAD,
        domain.policies.map((policy) => [code(policy.policy), ...cellsOf(policy)]),
      ),
      ...domain.policies.flatMap(({ policy, shadow, keys }) =>
        shadow && keys.length > 0
          ? [
              '',
              ...table(
                [`most over ${code(policy)}, of the last day`, 'requests'],
                keys.map(({ key, denied }) => [key === '' ? '(everyone)' : code(key), grouped(denied)]),
              ),
            ]
          : [],
      ),
      '',
    ])
    .join('\n')
}

const HEAD = ['rule', 'mode', 'requests', 'refused, or would be']

function cellsOf({ shadow, requests, denied }: LivePolicyFigures): string[] {
  return [shadow ? 'shadow' : 'live', grouped(requests), countAndShare(denied, requests)]
}

function sinceText({ since, hours }: ShadowDomain, { countsSince }: ShadowReport): string {
  const earlier = since === countsSince ? '' : `; counted since ${countsSince}, under earlier rules too`
  return `rules in force since ${since}, ${hours.toFixed(1)} h${earlier}`
}
