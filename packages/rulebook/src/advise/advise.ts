import { rulebookOf, ruleFilesOf } from '../load.ts'
import type { LoadOptions } from '../load-options.ts'
import { readRulebook } from '../read.ts'
import type { RuleFile } from '../rule-file.ts'
import type { Advice } from './advice.ts'
import { adviseDescriptor } from './descriptors.ts'
import { adviseLimits } from './limits.ts'

/**
 * What to change in a rulebook that has no mistake, in the order of its files and lines. Nothing is said of rules that
 * refuse nothing.
 * @throws RulebookError as {@link loadRulebook}
 * @example
 * for (const { file, line, reason } of await adviseRulebook(['rules/'])) console.log(`${file}:${line}: ${reason}`)
 */
export async function adviseRulebook(
  paths: readonly string[],
  options: LoadOptions = {},
): Promise<readonly Advice[]> {
  const { files, problems } = ruleFilesOf(await readRulebook(paths), options)
  rulebookOf(files, problems)
  const domains = new Map<string, RuleFile[]>()
  for (const file of files) domains.set(file.name, [...(domains.get(file.name) ?? []), file])
  const found = [...domains.values()].flatMap((parts) => {
    const descriptors = parts.flatMap((part) => part.descriptors)
    return [
      ...adviseLimits(
        parts.flatMap(({ limits }) => limits),
        descriptors.length === 0,
      ),
      ...descriptors.flatMap((descriptor) => adviseDescriptor(descriptor)),
    ]
  })
  const order = files.map(({ source }) => source.file)
  return found.sort(
    (a, b) => order.indexOf(a.file) - order.indexOf(b.file) || a.line - b.line || a.column - b.column,
  )
}
