import { isDeepStrictEqual } from 'node:util'
import type { Limit } from '@sluice/limiter/rules'
import { quoted } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import { type Placed, placeOf, problemIn } from './placed.ts'
import { lintReplaces } from './replaces.ts'

/** @param limits all of one domain, in rule order */
export function lintLimits(
  limits: readonly Placed<Limit>[],
  names: ReadonlySet<string> | undefined,
): FileProblem[] {
  const byName = new Map<string, Placed<Limit>>()
  for (const limit of limits) if (!byName.has(limit.rule.name)) byName.set(limit.rule.name, limit)
  const replacements = limits.flatMap((place) =>
    place.rule.replaces.map((name, index) => ({
      by: place.rule.name,
      name,
      place,
      field: ['replaces', index],
    })),
  )
  const replaces = lintReplaces(replacements, new Set(byName.keys()), names)
  return [...lintNames('a limit', limits), ...replaces, ...neverApplied(limits, byName)]
}

/** Reports names that an earlier rule has. @param what as messages call such a rule */
export function lintNames(
  what: string,
  rules: readonly Placed<{ readonly name: string }>[],
): readonly FileProblem[] {
  const firsts = new Map<string, Placed<unknown>>()
  return rules.flatMap((place) => {
    const { name } = place.rule
    const first = firsts.get(name)
    if (first !== undefined) {
      return [problemIn(place, ['name'], `${what} is named ${quoted(name)} already, at ${placeOf(first)}`)]
    }
    firsts.set(name, place)
    return []
  })
}

/** A limit that another replaces wherever both could apply. */
function neverApplied(
  limits: readonly Placed<Limit>[],
  byName: ReadonlyMap<string, Placed<Limit>>,
): FileProblem[] {
  return limits.flatMap(({ rule }) =>
    rule.replaces.flatMap((name) => {
      const replaced = byName.get(name)
      if (replaced === undefined || name === rule.name || !appliesWherever(rule, replaced.rule)) return []
      const message = `${quoted(name)} never applies: ${quoted(rule.name)} replaces it whenever it matches`
      return [problemIn(replaced, ['name'], message)]
    }),
  )
}

/** Does `rule` apply to every request that `other` applies to? Yes only where it is certain. */
function appliesWherever(rule: Limit, other: Limit): boolean {
  const isMet = rule.when === undefined || isDeepStrictEqual(rule.when, other.when)
  const hasKey = rule.onMissingKey !== 'skip' || rule.key.every((part) => other.key.includes(part))
  return (
    isMet &&
    hasKey &&
    rule.exempt.length === 0 &&
    (other.onMissingKey === 'skip' || rule.onMissingKey !== 'skip')
  )
}
