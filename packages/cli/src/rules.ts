import { existsSync } from 'node:fs'
import { type CompileOptions, compile, type Domain, type Rules } from '@sluice/limiter/rules'
import { loadRulebook } from '@sluice/rulebook'
import { unknownName } from './arguments.ts'
import type { Values } from './command.ts'
import type { Io } from './io.ts'
import { secretOf } from './secrets.ts'
import { UsageError } from './usage-error.ts'

export interface LoadedRules {
  readonly domains: readonly Domain[]
  readonly rules: Rules
  /** What they were compiled with. */
  readonly compileOptions: CompileOptions
}

/** What every command that loads rules has an option for. */
export const RULES_OPTIONS: {
  readonly 'calendar-months': { readonly type: 'boolean'; readonly help: string }
} = {
  'calendar-months': {
    type: 'boolean',
    help: 'unit: month of descriptors is a calendar month in UTC, not 30 days',
  },
}

/** Loads files and folders as one rulebook. @throws RulebookError, or UsageError when there is nothing to load */
export async function loadRules(
  paths: readonly string[],
  { 'calendar-months': calendarMonths = false }: Values<typeof RULES_OPTIONS>,
  io: Io,
): Promise<LoadedRules> {
  const secret = await secretOf('SLUICE_SECRET', io)
  checkPaths(paths)
  const domains = await loadRulebook(paths, { calendarMonths })
  const compileOptions = { calendarMonths, ...(secret !== undefined && { secret }) }
  return { domains, rules: compile(domains, compileOptions), compileOptions }
}

/** @throws UsageError unless each is there */
export function checkPaths(paths: readonly string[]): void {
  if (paths.length === 0) throw new UsageError('name at least one rulebook: a YAML file, or a folder of them')
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`cannot read ${path}: there is no such file`)
  }
}

/** The domain that was named, or the only one. @throws UsageError */
export function chooseDomain(domains: readonly Domain[], name: string | undefined, how: string): Domain {
  const names = domains.map((domain) => domain.name)
  if (name === undefined) {
    if (domains.length === 1) return domains[0]!
    throw new UsageError(
      `the rulebook has ${domains.length} domains, ${names.join(', ')}: choose one with ${how}`,
    )
  }
  const domain = domains.find((each) => each.name === name)
  if (domain === undefined) throw new UsageError(unknownName('domain', name, names))
  return domain
}
