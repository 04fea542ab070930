import { planOf } from '@sluice/limiter/core/decide/algorithms'
import type { AlgorithmName, Policy } from '@sluice/limiter/core/decide/policy'
import type { Quota, RuleOptions } from '@sluice/limiter/core/match/rule'
import { lawOf } from '@sluice/limiter/core/match/ruling'
import { Mistake, reading } from '../mistake.ts'
import type { Path, Report } from '../syntax/source.ts'
import { anchored } from './quota.ts'

/** Algorithms whose windows a phase can shift. */
const PHASED: readonly AlgorithmName[] = ['fixed-window', 'sliding-window-counter']

/** A rule as far as its quotas are concerned. */
export interface Ruling {
  readonly options: RuleOptions
  readonly anchor?: string | undefined
  /** What each request takes, where that is known. */
  readonly cost?: number
  /** The map that holds the options. */
  readonly base: Path
}

/** @param base the map in which a burst of the quota's own stands, where that is not `path` */
export type QuotaReader = (quota: Quota, path: Path, base?: Path) => Quota

/**
 * Reports options that would silently mean nothing. What it returns finishes the rule's quotas, one by one:
 * it puts the anchor in, and reports whatever no plan can be made of.
 */
export function quotaReader(ruling: Ruling, report: Report): QuotaReader {
  const { options, anchor, cost = 0, base } = ruling
  const { algorithm, spread = false } = options
  const { block, lease, ...plain } = options
  const lawful = attempt(() => lawOf(plain, ''), [...base, 'on_limit'], report)
  if (lawful && block) attempt(() => lawOf({ ...plain, block }, ''), [...base, 'block'], report)
  if (lawful && lease) attempt(() => lawOf({ ...options, cost }, ''), [...base, 'lease'], report)
  if (spread && !PHASED.includes(algorithm)) {
    report([...base, 'spread'], `spread goes with ${PHASED.join(' and ')}, not with ${algorithm}`)
  }
  const sound = { algorithm, ...soundOptions(algorithm, options, base, report) }

  return (written, path, ownBase = path) => {
    const quota = anchor === undefined ? written : withAnchor(written, anchor, [...base, 'anchor'], report)
    if (spread && typeof quota.period === 'object') {
      report([...base, 'spread'], 'spread goes with no calendar period')
    }
    const { burst, ...rest } = quota
    const own = burst === undefined ? {} : soundOptions(algorithm, { burst }, ownBase, report)
    const plan = attempt(() => planOf({ ...sound, ...rest, ...own }), path, report)
    if (plan !== undefined && plan.capacity > 0 && cost > plan.capacity) {
      report([...base, 'cost'], `a cost of ${cost} never fits into ${plan.capacity}`)
    }
    if (plan !== undefined && plan.capacity > 0 && lease !== undefined && lease > plan.capacity) {
      report([...base, 'lease'], `a lease of ${lease} never fits into ${plan.capacity}`)
    }
    return quota
  }
}

type Options = Pick<Policy, 'burst' | 'rounding' | 'refill'>

/** Those options that the algorithm knows. */
function soundOptions(algorithm: AlgorithmName, options: Options, base: Path, report: Report): Options {
  const sound = {}
  for (const name of ['burst', 'rounding', 'refill'] as const) {
    if (options[name] === undefined) continue
    const option = { [name]: options[name] }
    const plan = attempt(
      () => planOf({ algorithm, limit: 1, period: 1_000, ...option }),
      [...base, name],
      report,
    )
    if (plan !== undefined) Object.assign(sound, option)
  }
  return sound
}

function withAnchor(quota: Quota, anchor: string, path: Path, report: Report): Quota {
  const { period } = quota
  if (typeof period === 'object') {
    return { ...quota, period: attempt(() => anchored(period, anchor), path, report) ?? period }
  }
  report(path, 'an anchor goes with a calendar period')
  return quota
}

/** What `read` gives; `undefined`, and a report, where the limiter refuses. */
export function attempt<T>(read: () => T, path: Path, report: Report): T | undefined {
  try {
    return reading(read)
  } catch (error) {
    if (!(error instanceof Mistake)) throw error
    report(path, error.message)
    return undefined
  }
}
