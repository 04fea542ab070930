import type { Domain, Limit } from '@sluice/limiter/rules'
import { noteFor } from '../notes.ts'
import type { ExportNote } from '../target.ts'
import { lossesOf, obstacleOf, passedOver } from './obstacle.ts'

/** What a proxy has for the limits that it can decide, and notes on what it cannot. */
interface MadeRules<Made> {
  readonly rules: readonly Made[]
  readonly notes: readonly ExportNote[]
}

/**
 * Makes the rules of a domain for one proxy.
 * @param make a limit's rule, or why the proxy has none; it gets the number of rules before it
 */
export function madeRules<Made extends { readonly differences: readonly string[] }>(
  domain: Domain,
  make: (limit: Limit, before: number) => Made | string,
): MadeRules<Made> {
  const notes: ExportNote[] = []
  const rules: Made[] = []
  for (const limit of domain.limits) {
    const note = noteFor(limit, notes)
    const made = obstacleOf(limit, domain) ?? make(limit, rules.length)
    if (typeof made === 'string') {
      note(false, made)
      continue
    }
    for (const difference of [...made.differences, ...lossesOf(limit)]) note(true, difference)
    rules.push(made)
  }
  return { rules, notes: [...notes, ...passedOver(domain, ['descriptors'])] }
}
