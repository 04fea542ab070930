import { quoted } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import type { RuleFile } from '../rule-file.ts'
import { nodeAt, problemAt } from '../syntax/source.ts'
import { lintDescriptors } from './descriptors.ts'
import { lintLimits } from './limits.ts'
import type { Placed } from './placed.ts'

/** What is wrong between rules that are each right, over all files of a load. */
export function lint(files: readonly RuleFile[], mergeDomains: boolean): FileProblem[] {
  const domains = new Map<string, RuleFile[]>()
  for (const file of files) {
    const parts = domains.get(file.domain.name) ?? []
    domains.set(file.domain.name, parts)
    parts.push(file)
  }
  return [...domains].flatMap(([name, parts]) => [
    ...(mergeDomains ? [] : repeatedDomain(parts)),
    ...lintLimits(placed(parts, 'limits')),
    ...lintDescriptors(name, placed(parts, 'descriptors')),
  ])
}

function placed<List extends 'limits' | 'descriptors'>(
  files: readonly RuleFile[],
  list: List,
): Placed<RuleFile['domain'][List][number]>[] {
  return files.flatMap(({ source, domain }) =>
    domain[list].map((rule, index) => ({ rule, source, path: [list, index] })),
  )
}

/** Descriptors are one tree, and its halves in two files are as often a slip as meant. Limits stand each for itself. */
function repeatedDomain(files: readonly RuleFile[]): FileProblem[] {
  const [first, ...others] = files.filter(({ source }) => nodeAt(source, ['descriptors']) !== undefined)
  return others.map(({ source, domain }) =>
    problemAt(
      source,
      ['domain'],
      `domain ${quoted(domain.name)} has its descriptors in ${first!.source.file} already`,
    ),
  )
}
