import { ConfigError } from '../errors.ts'
import { keyedHash } from '../identify/keyed-hash.ts'
import { checkOptions, flag, objectOf, textCheck } from '../options.ts'
import type { Request } from '../request.ts'
import type { CompiledDomain, Rules } from './compiled-rules.ts'
import { compileDescriptors } from './descriptor-tree.ts'
import { type Domain, domainsCheck, type Limit, limitCheck, networkLimitCheck } from './domain.ts'
import { type CompiledLimit, compileLimit, type Setting } from './limit.ts'
import { naming, ruleMaker } from './make-rule.ts'
import { matchRequest } from './match.ts'
import { atOnce, type Pieces } from './pieces.ts'
import { indexRules } from './rule-index.ts'

export interface CompileOptions {
  /** Keys the hash of API keys, cookies and long values. Whoever shares a store must share it. */
  readonly secret?: string
  /** For applications whose paths differ in case alone. Default false: `/Login` is `/login`. */
  readonly caseSensitivePaths?: boolean
  /** Makes `month` in limits that requests bring a month of the calendar, in UTC, in place of 30 days. Default false. */
  readonly calendarMonths?: boolean
}

const OPTIONS = /* @__PURE__ */ objectOf<CompileOptions>({
  secret: textCheck,
  caseSensitivePaths: flag,
  calendarMonths: flag,
})

/**
 * Turns rules into what {@link matchRequest} and {@link matchDescriptors} walk.
 * @throws ConfigError that names the rule, and its place in the file where it has one
 * @example
 * const rules = compile(await loadRulebook(['rules/']))
 * const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
 */
export function compile(domains: readonly Domain[], options: CompileOptions = {}): Rules {
  return atOnce(compiling(domains, options))
}

/**
 * The same in pieces, so that a process with thousands of rules decides requests meanwhile.
 * @param pause asked after each piece, of one rule; what it returns is awaited
 * @throws ConfigError as compile does
 * @example
 * const rules = await compileInPieces(domains, () => new Promise(setImmediate))
 */
export async function compileInPieces(
  domains: readonly Domain[],
  pause: () => Promise<unknown> | undefined,
  options: CompileOptions = {},
): Promise<Rules> {
  const pieces = compiling(domains, options)
  for (;;) {
    const { done, value } = pieces.next()
    if (done) return value
    const paused = pause()
    if (paused !== undefined) await paused
  }
}

function* compiling(domains: readonly Domain[], options: CompileOptions): Pieces<Rules> {
  checkOptions(domains, domainsCheck, 'domains')
  checkOptions(options, OPTIONS)
  const { secret = '', caseSensitivePaths = false, calendarMonths = false } = options
  const setting: Setting = {
    hash: keyedHash(secret),
    foldPaths: !caseSensitivePaths,
    calendarMonths,
    ruleFor: ruleMaker(),
  }
  const compiled = new Map<string, CompiledDomain>()
  for (const domain of domains) {
    if (compiled.has(domain.name))
      throw new ConfigError(`two domains are named ${JSON.stringify(domain.name)}`)
    compiled.set(domain.name, yield* compileDomain(domain, setting))
  }
  const rules: Rules = Object.freeze({
    domains: compiled,
    setting,
    matchRequest: (domain: string, request: Request, cost?: number) =>
      matchRequest(rules, domain, request, cost),
  })
  return rules
}

function* compileDomain(
  { name, limits, descriptors, network = [] }: Domain,
  setting: Setting,
): Pieces<CompiledDomain> {
  const names = new Set(limits.map((limit) => limit?.name))
  const seen = new Set<string>()
  const compiled: CompiledLimit[] = []
  for (const limit of limits) {
    naming(`limit ${JSON.stringify(limit?.name)}`, limit?.source, () => {
      checkOptions(limit, limitCheck)
      if (seen.has(limit.name)) throw new ConfigError('another limit of this domain has that name')
      seen.add(limit.name)
      checkReplaced(limit, names)
      compiled.push(compileLimit(limit, name, setting))
    })
    yield
  }
  for (const rule of network) {
    naming(`network rule ${JSON.stringify(rule?.name)}`, rule?.source, () =>
      checkOptions(rule, networkLimitCheck),
    )
  }
  return {
    name,
    limits: compiled,
    index: yield* indexRules(compiled.map(({ conditions }) => conditions)),
    descriptors: yield* compileDescriptors(name, descriptors, setting),
  }
}

function checkReplaced({ name, replaces }: Limit, names: ReadonlySet<string>): void {
  for (const other of replaces) {
    if (other === name) throw new ConfigError('it replaces itself')
    if (!names.has(other))
      throw new ConfigError(`it replaces ${JSON.stringify(other)}, but no limit has that name`)
  }
}
