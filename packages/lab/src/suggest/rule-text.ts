import type { When } from '@sluice/limiter/rules'
import type { Choice } from './frontier.ts'

/** What a rule is about, whatever its figures. */
export interface RuleSubject {
  /** Parts of the key, as rules write them. */
  readonly key: readonly string[]
  readonly when?: When | undefined
  /** What a request costs, as rules write it: a number, `attribute:NAME` or `header:NAME`. Default: 1. */
  readonly ruleCost?: number | string | undefined
}

/** Words for periods of one unit. */
const WORDS: Readonly<Record<string, string>> = { '1s': 'second', '1m': 'minute', '1h': 'hour', '1d': 'day' }

/** One limit as YAML. @param period as text, such as `1m` */
export function limitText(
  name: string,
  { key, when, ruleCost }: RuleSubject,
  { limit, burst }: Omit<Choice, 'period'>,
  period: string,
  algorithm: string,
): string {
  const fields = [
    `name: ${name}`,
    ...(when === undefined ? [] : [`when: ${flow(when)}`]),
    `key: ${flow(key)}`,
    `limit: ${limit}/${WORDS[period] ?? period}`,
    ...(burst === undefined ? [] : [`burst: ${burst}`]),
    ...(ruleCost === undefined ? [] : [`cost: ${flow(ruleCost)}`]),
    `algorithm: ${algorithm}`,
  ]
  return `  - ${fields.join('\n    ')}\n`
}

/** JSON, with blanks: it is YAML, and no text of a user can end it early. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${flow(inner)}`)
    .join(', ')} }`
}

/** A name for the rule, of its key. */
export function nameOfRule({ key }: RuleSubject): string {
  return key.length === 0 ? 'all' : `by-${key.join('-').replace(/[^\w-]+/g, '-')}`.slice(0, 64)
}
