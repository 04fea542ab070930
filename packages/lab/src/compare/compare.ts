import type { Domain } from '@sluice/limiter/rules'
import { type JobOptions, runInJobs, runStudy } from '../jobs/run-study.ts'
import type { Questions } from '../simulate/decider.ts'
import type { RulesOfDomain } from '../simulate/simulate-study.ts'
import { readSummary, type TrafficOptions } from '../simulate/simulate-traffic.ts'
import { policyReports } from '../simulate/tally.ts'
import { wantedFields } from '../simulate/wanted-fields.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { changeOf } from './change-tally.ts'
import { type BothFates, type CompareCounts, CompareStudy, type SideCounts } from './compare-study.ts'
import type { Comparison, RulebookTotals } from './comparison.ts'

export interface CompareOptions extends TrafficOptions, Pick<Questions, 'descriptors'> {
  readonly old: RulesOfDomain
  readonly new: RulesOfDomain
  /** Is called with what became of each request, in the order of their times. `at`: microseconds since the epoch. */
  readonly onFates?: ((fates: BothFates, at: number) => void) | undefined
  /** Shares the work among threads, to the same result. Not with `descriptors` or `onFates`. Default: one does it. */
  readonly jobs?: JobOptions | undefined
}

/**
 * Replays traffic once through two rulebooks, each with counters of its own, and counts the requests of which they think
 * otherwise.
 * @throws LabError for traffic that cannot be read
 * @example
 * const { newlyDenied } = await compareRules(sourcesOf(['access.log']), { old, new: proposed })
 */
export async function compareRules(
  sources: readonly TrafficSource[],
  { old, new: proposed, descriptors, onFates, jobs, ...traffic }: CompareOptions,
): Promise<Comparison> {
  const study = new CompareStudy({ old, new: proposed }, descriptors, onFates)
  const counts = new ReadCounts()
  const lines = {
    ...traffic,
    wanted: wantedByBoth(old.domain, proposed.domain, descriptors !== undefined),
    domain: old.domain.name,
  }
  const plan = { kind: 'compare', old: old.domain, new: proposed.domain } as const
  const found =
    jobs === undefined || jobs.count === 1 || descriptors !== undefined || onFates !== undefined
      ? [await runStudy(study, sources, lines, counts)]
      : await runInJobs(study, plan, sources, lines, counts, jobs)
  return comparisonOf(counts, found)
}

/** What several have counted, together. */
export function comparisonOf(counts: ReadCounts, found: readonly CompareCounts[]): Comparison {
  const change = (which: 'newlyDenied' | 'newlyAdmitted') =>
    changeOf(
      found.map((part) => part[which]),
      counts.requests,
    )
  return {
    ...readSummary(counts),
    old: totalsOf(found.map((part) => part.old)),
    new: totalsOf(found.map((part) => part.new)),
    newlyDenied: change('newlyDenied'),
    newlyAdmitted: change('newlyAdmitted'),
  }
}

function totalsOf(sides: readonly SideCounts[]): RulebookTotals {
  return {
    denied: sides.reduce((sum, { denied }) => sum + denied, 0),
    policies: policyReports(sides.map(({ policies }) => policies)),
  }
}

function wantedByBoth(
  old: Domain,
  proposed: Domain,
  byDescriptors: boolean,
): ReadonlySet<string> | undefined {
  const [before, after] = [wantedFields(old, byDescriptors), wantedFields(proposed, byDescriptors)]
  return before && after && new Set([...before, ...after, 'method', 'target'])
}
