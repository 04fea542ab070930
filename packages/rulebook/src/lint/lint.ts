import type { FileProblem } from '../problem.ts'
import type { RuleFile } from '../rule-file.ts'
import { lintDescriptors } from './descriptors.ts'
import { lintLimits, lintNames } from './limits.ts'

/**
 * What is wrong between rules, over all files of a load.
 * @param complete whether every file could be read: else nobody knows which names there are
 */
export function lint(files: readonly RuleFile[], complete: boolean): FileProblem[] {
  const domains = new Map<string, RuleFile[]>()
  for (const file of files) {
    const parts = domains.get(file.name) ?? []
    domains.set(file.name, parts)
    parts.push(file)
  }
  return [...domains].flatMap(([name, parts]) => {
    const written = (list: 'limits' | 'descriptors'): ReadonlySet<string> | undefined =>
      complete ? new Set(parts.flatMap(({ names }) => names[list])) : undefined
    return [
      ...lintLimits(
        parts.flatMap(({ limits }) => limits),
        written('limits'),
      ),
      ...lintDescriptors(
        name,
        parts.flatMap(({ descriptors }) => descriptors),
        written('descriptors'),
      ),
      ...lintNames(
        'a network rule',
        parts.flatMap(({ network }) => network),
      ),
    ]
  })
}
