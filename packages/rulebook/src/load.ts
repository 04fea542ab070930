import { checkOptions, flag, listOf, objectOf, textCheck } from '@sluice/limiter/options'
import type { Descriptor, Domain, Limit } from '@sluice/limiter/rules'
import { lint } from './lint/lint.ts'
import { type FileProblem, RulebookError } from './problem.ts'
import { type RulebookFiles, readRulebook } from './read.ts'
import { type RuleFile, readRuleFile } from './rule-file.ts'

export interface LoadOptions {
  /** Lets several files hold descriptors of one domain. Default false: that is a mistake. */
  readonly mergeDomains?: boolean
}

const PATHS = listOf(textCheck, 'a list of files and folders')
const OPTIONS = objectOf<LoadOptions>({ mergeDomains: flag })

/**
 * Loads files and folders (every *.yaml and *.yml below them) as one rulebook: one entry for each domain.
 * @throws ConfigError for paths and options that are none
 * @throws RulebookError with every mistake in every file; those between rules once each file is right by itself.
 * @example
 * const rules = compile(await loadRulebook(['rules/', 'partners.yaml']))
 */
export async function loadRulebook(
  paths: readonly string[],
  options: LoadOptions = {},
): Promise<readonly Domain[]> {
  checkOptions(paths, PATHS, 'paths')
  checkOptions(options, OPTIONS)
  return parseRulebook(await readRulebook(paths), options)
}

/**
 * The second half of {@link loadRulebook}, which needs no files any more: another thread can do it.
 * @throws RulebookError as loadRulebook does
 * @example
 * const rules = compile(parseRulebook(await readRulebook(['rules/'])))
 */
export function parseRulebook(
  { files, problems }: RulebookFiles,
  options: LoadOptions = {},
): readonly Domain[] {
  checkOptions(options, OPTIONS)
  const all = [...problems]
  const parsed: RuleFile[] = []
  for (const { path, bytes } of files) {
    try {
      parsed.push(readRuleFile(textOf(bytes, path), path))
    } catch (error) {
      if (!(error instanceof RulebookError)) throw error
      for (const problem of error.problems) all.push(problem)
    }
  }
  return rulebookOf(parsed, all, options)
}

/**
 * Loads the text of one file. `file` is what problems call it.
 * @throws RulebookError with every mistake in it; those between rules once each rule is right by itself.
 * @example
 * const [shop] = loadText('domain: shop\nlimits: [{ name: login, key: [ip], limit: 5/1m }]')
 */
export function loadText(yaml: string, file = 'rulebook.yaml'): readonly Domain[] {
  return rulebookOf([readRuleFile(yaml, file)], [], {})
}

/** @throws RulebookError */
function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new RulebookError([{ file, line: 1, column: 1, message: 'is not UTF-8 text' }])
  }
}

function rulebookOf(
  files: readonly RuleFile[],
  problems: readonly FileProblem[],
  options: LoadOptions,
): Domain[] {
  const all = problems.length > 0 ? problems : lint(files, options.mergeDomains ?? false)
  if (all.length > 0) throw new RulebookError(all)
  const domains = new Map<string, { name: string; limits: Limit[]; descriptors: Descriptor[] }>()
  for (const { domain } of files) {
    const { name, limits, descriptors } = domain
    const merged = domains.get(name) ?? { name, limits: [], descriptors: [] }
    for (const limit of limits) merged.limits.push(limit)
    for (const descriptor of descriptors) merged.descriptors.push(descriptor)
    domains.set(name, merged)
  }
  return [...domains.values()]
}
