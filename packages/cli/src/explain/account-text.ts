import type { PolicyFigures } from '@sluice/limiter'
import { algorithmOptions, type Policy } from '@sluice/limiter/algorithms'
import { ticksOf } from '@sluice/limiter/time'
import { printable } from '../printable.ts'
import type { Account, RuleAccount } from './account.ts'

/** An account to read. @param when the decision was made, as it stands within a sentence */
export function accountText({ domain, rules, decision }: Account, when = 'with nothing used'): string {
  const applying = rules.filter(({ applies }) => applies).length
  const answer = decision.allowed ? 'admitted' : 'refused'
  const binding = decision.policy === '' ? 'no rule limits it' : `${printable(decision.policy)} decides`
  return [
    `${printable(domain)}: ${applying} of ${rules.length} apply; ${when}, the request is ${answer}: ${binding}`,
    ...rules.flatMap((rule) => ['', ...ruleLines(rule)]),
    '',
  ].join('\n')
}

function ruleLines({ rule, applies, reason, key, plan, figures }: RuleAccount): string[] {
  if (!applies) return [`- ${printable(rule)}: ${printable(reason ?? '', 200)}`]
  return [
    `+ ${printable(rule)} applies`,
    ...(key === undefined ? [] : [`  key      ${key === '' ? '(everyone)' : printable(key, 120)}`]),
    ...(plan === undefined ? [] : [`  plan     ${planText(plan)}`]),
    ...(figures === undefined ? [] : [`  figures  ${figuresText(figures)}`]),
  ]
}

function planText(policy: Policy): string {
  const { algorithm, limit, period } = policy
  const options = [...algorithmOptions.keys()].filter((name) => policy[name] !== undefined)
  return [
    `${algorithm}, ${limit} per ${periodText(period)}`,
    ...options.map((name) => `${name} ${policy[name]}`),
  ].join(', ')
}

const DURATION_UNITS = [
  [86_400_000_000, 'd'],
  [3_600_000_000, 'h'],
  [60_000_000, 'min'],
  [1_000_000, 's'],
  [1_000, 'ms'],
  [1, 'µs'],
] as const

function periodText(period: Policy['period']): string {
  if (typeof period === 'object') return `calendar ${period.calendar} in ${period.zone ?? 'UTC'}`
  const ticks = ticksOf(period)
  const [size, unit] = DURATION_UNITS.find(([each]) => ticks % each === 0)!
  return `${ticks / size} ${unit}`
}

function figuresText(figures: PolicyFigures): string {
  const { allowed, remaining, limit, retryAfterMs, delayMs, shadow, deprioritizes } = figures
  const wait = retryAfterMs === null ? 'no wait helps' : `retry after ${retryAfterMs} ms`
  return [
    `${allowed ? 'admits' : `refuses, ${wait}`}; ${remaining} of ${limit} remain`,
    ...(delayMs > 0 ? [`delay ${delayMs} ms`] : []),
    ...(shadow ? ['only reports'] : []),
    ...(deprioritizes ? ['only lowers the priority'] : []),
  ].join('; ')
}
