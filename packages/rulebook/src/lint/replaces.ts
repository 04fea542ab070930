import { nearest } from '@sluice/limiter/errors'
import { quoted } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import type { Path } from '../syntax/source.ts'
import { type Placed, problemIn } from './placed.ts'

/** One entry of a rule's `replaces`. */
export interface Replacement {
  /** The rule's own name. */
  readonly by: string | undefined
  readonly name: string
  readonly place: Placed<unknown>
  /** Where in the rule the name stands. */
  readonly field: Path
}

/**
 * Reports names that name nothing or the rule itself, and rules that replace one another until none is left.
 * @param written every name that files have, also of rules with other mistakes; none where not every file could be read
 */
export function lintReplaces(
  replacements: readonly Replacement[],
  known: ReadonlySet<string>,
  written: ReadonlySet<string> | undefined,
): FileProblem[] {
  const circles = circular(replacements)
  const names = [...known]
  return replacements.flatMap((replacement) => {
    const { by, name, place, field } = replacement
    if (name === by) return [problemIn(place, field, `${quoted(name)} replaces itself`)]
    if (!known.has(name)) {
      if (written === undefined || written.has(name)) return []
      return [
        problemIn(place, field, `no limit of this domain is named ${quoted(name)}`, () =>
          nearest(name, names),
        ),
      ]
    }
    if (!circles.has(replacement)) return []
    return [
      problemIn(place, field, `${quoted(by!)} and ${quoted(name)} replace one another: neither would apply`),
    ]
  })
}

/** Those that form circles, or lie between two: each is replaced itself, and replaces what replaces in turn. */
function circular(replacements: readonly Replacement[]): ReadonlySet<Replacement> {
  let kept = replacements.filter(({ by, name }) => by !== name)
  for (let before = -1; before !== kept.length; ) {
    before = kept.length
    const replacing = new Set(kept.map(({ by }) => by))
    const replaced = new Set<string | undefined>(kept.map(({ name }) => name))
    kept = kept.filter(({ by, name }) => replaced.has(by) && replacing.has(name))
  }
  return new Set(kept)
}
