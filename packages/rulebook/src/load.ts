import { checkOptions, flag, objectOf } from '@sluice/limiter/options'
import type { Descriptor, Domain, Limit, NetworkLimit } from '@sluice/limiter/rules'
import { lint } from './lint/lint.ts'
import type { LoadOptions } from './load-options.ts'
import { type FileProblem, RulebookError } from './problem.ts'
import { type RulebookFiles, readRulebook } from './read.ts'
import { inOrder, type RuleFile, readRuleFile } from './rule-file.ts'

const OPTIONS = objectOf<LoadOptions>({ calendarMonths: flag })

/**
 * Loads files and folders (every *.yaml and *.yml below them) as one rulebook: one entry for each domain.
 * @throws ConfigError for paths and options that are none
 * @throws RulebookError with every mistake in every file, and between them
 * @example
 * const rules = compile(await loadRulebook(['rules/', 'partners.yaml']))
 */
export async function loadRulebook(
  paths: readonly string[],
  options: LoadOptions = {},
): Promise<readonly Domain[]> {
  checkOptions(options, OPTIONS)
  return parseRulebook(await readRulebook(paths), options)
}

/**
 * The second half of {@link loadRulebook}, which needs no files any more: another thread can do it.
 * @throws RulebookError as loadRulebook does
 * @example
 * const rules = compile(parseRulebook(await readRulebook(['rules/'])))
 */
export function parseRulebook(read: RulebookFiles, options: LoadOptions = {}): readonly Domain[] {
  const { files, problems } = ruleFilesOf(read, options)
  return rulebookOf(files, problems)
}

/** The rules of each file, with their places, and the problems of files that could not be taken apart. */
export function ruleFilesOf(
  { files, problems }: RulebookFiles,
  options: LoadOptions,
): { readonly files: readonly RuleFile[]; readonly problems: readonly FileProblem[] } {
  checkOptions(options, OPTIONS)
  const all = [...problems]
  const parsed: RuleFile[] = []
  for (const { path, bytes } of files) {
    try {
      parsed.push(readRuleFile(textOf(bytes, path), path, options))
    } catch (error) {
      if (!(error instanceof RulebookError)) throw error
      for (const problem of error.problems) all.push(problem)
    }
  }
  return { files: parsed, problems: all }
}

/**
 * Loads the text of one file. `file` is what problems call it.
 * @throws RulebookError with every mistake in it
 * @example
 * const [shop] = loadText('domain: shop\nlimits: [{ name: login, key: [ip], limit: 5/1m }]')
 */
export function loadText(text: string, file = 'rulebook.yaml', options: LoadOptions = {}): readonly Domain[] {
  checkOptions(options, OPTIONS)
  return rulebookOf([readRuleFile(text, file, options)], [])
}

/** @throws RulebookError */
function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new RulebookError([{ file, line: 1, column: 1, message: 'is not UTF-8 text' }])
  }
}

/**
 * The domains of all files together.
 * @param unread problems of files that could not be taken apart
 * @throws RulebookError with every mistake in them, and between them
 */
export function rulebookOf(files: readonly RuleFile[], unread: readonly FileProblem[]): Domain[] {
  const between = lint(files, unread.length === 0)
  const problems = files.flatMap((file) =>
    inOrder([...file.problems, ...between.filter((problem) => problem.file === file.source.file)]),
  )
  if (unread.length + problems.length > 0) throw new RulebookError([...unread, ...problems])
  const domains = new Map<string, MergedDomain>()
  for (const { name, limits, descriptors, network } of files) {
    const merged = domains.get(name) ?? { name, limits: [], descriptors: [] }
    for (const { rule } of limits) merged.limits.push(rule)
    for (const { rule } of descriptors) merged.descriptors.push(rule)
    for (const { rule } of network) {
      merged.network ??= []
      merged.network.push(rule)
    }
    domains.set(name, merged)
  }
  return [...domains.values()]
}

interface MergedDomain {
  readonly name: string
  readonly limits: Limit[]
  readonly descriptors: Descriptor[]
  network?: NetworkLimit[]
}
