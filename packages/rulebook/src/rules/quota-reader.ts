import { optionErrors, type Policy, planOf } from '@sluice/limiter/algorithms'
import { ruleErrors } from '@sluice/limiter/decide'
import type { ConfigError } from '@sluice/limiter/errors'
import { algorithmSettingsOf, type LimitOptions, type Quota, ruleOptionsOf } from '@sluice/limiter/rules'
import { asFieldError, FieldError } from '../mistake.ts'
import type { FileSource, Path, Reporter } from '../syntax/source.ts'
import { anchored } from './quota.ts'

/** A rule as far as its quotas are concerned. */
export interface QuotaRule {
  readonly options: LimitOptions
  readonly anchor?: string | undefined
  /** What each request takes, where that is known. */
  readonly cost?: number
  readonly source: FileSource
  /** The map that holds the options. */
  readonly base: Path
}

/** @param base the map in which a burst of the quota's own stands, where that is not `path` */
export type QuotaReader = (quota: Quota, path: Path, base?: Path) => Quota

/** What files call an option of the model, where that is another name. */
const FILE_FIELDS: Readonly<Record<string, string>> = { onLimit: 'on_limit', prefetch: 'lease' }

/**
 * Reads a rule's quotas, one by one: puts the anchor in, and reports all that no rule can be made of, each mistake
 * once: at the option that is wrong, or at the quota.
 */
export function quotaReader(
  { options, anchor, cost = 0, source, base }: QuotaRule,
  report: Reporter,
): QuotaReader {
  const reported = new Set<string>()
  const reportOnce: Reporter = (at, message, extra) => {
    const id = `${at.join('/')} ${message}`
    if (!reported.has(id)) report(at, message, extra)
    reported.add(id)
  }
  return (written, path, ownBase = path) => {
    const quota =
      anchor === undefined ? written : withAnchor(written, anchor, [...base, 'anchor'], reportOnce)
    const id = JSON.stringify([options, quota, cost])
    if (source.quotas.has(id)) return quota
    const policy = { ...algorithmSettingsOf(options), ...quota } as Policy
    const wrong = optionErrors(policy)
    for (const error of wrong) {
      const isOwn = error.path?.[0] === 'burst' && quota.burst !== undefined
      reportOnce(fieldOf(error, isOwn ? ownBase : base), error.message)
    }
    const plan = collect(() => planOf(without(policy, wrong)), path, reportOnce)
    if (plan === undefined) return quota
    for (const error of ruleErrors(plan, { ...ruleOptionsOf(options), cost }))
      reportOnce(fieldOf(error, base), error.message)
    const { capacity } = plan
    if (capacity > 0 && cost > capacity) {
      reportOnce([...base, 'cost'], `a cost of ${cost} never fits into ${capacity}`)
    }
    if (capacity > 0 && options.prefetch !== undefined && options.prefetch > capacity) {
      reportOnce([...base, 'lease'], `a lease of ${options.prefetch} never fits into ${capacity}`)
    }
    if (reported.size === 0) source.quotas.add(id)
    return quota
  }
}

/** Where in the file an error's field stands. */
function fieldOf({ path = [] }: ConfigError, base: Path): Path {
  const [field, ...below] = path
  return field === undefined ? base : [...base, FILE_FIELDS[field] ?? field, ...below]
}

/** The policy without the options that are wrong, to find out what else is. */
function without(policy: Policy, errors: readonly ConfigError[]): Policy {
  if (errors.length === 0) return policy
  const wrong = errors.map(({ path }) => path?.[0])
  return Object.fromEntries(Object.entries(policy).filter(([name]) => !wrong.includes(name))) as Policy
}

function withAnchor(quota: Quota, anchor: string, path: Path, report: Reporter): Quota {
  const { period } = quota
  if (typeof period === 'object') {
    return { ...quota, period: collect(() => anchored(period, anchor), path, report) ?? period }
  }
  report(path, 'an anchor needs a calendar period')
  return quota
}

/** What `read` gives; `undefined`, and a report, where the limiter refuses. */
export function collect<T>(read: () => T, path: Path, report: Reporter): T | undefined {
  try {
    return asFieldError(read)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    report(path, error.message)
    return undefined
  }
}
