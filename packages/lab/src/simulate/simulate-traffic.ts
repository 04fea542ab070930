import type { Domain } from '@sluice/limiter/rules'
import { type JobOptions, runInJobs, runStudy } from '../jobs/run-study.ts'
import type { LineOptions } from '../traffic/line-maker.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import type { TrafficSource } from '../traffic/source.ts'
import type { Fate, Questions } from './decider.ts'
import type { SimulationReport } from './report.ts'
import { SimulateStudy } from './simulate-study.ts'
import { policyReports } from './tally.ts'
import { wantedFields } from './wanted-fields.ts'

/** How a log is read. */
export type TrafficOptions = Pick<LineOptions<object>, 'format' | 'fields' | 'cost' | 'held' | 'onBytes'>

export interface SimulateOptions extends TrafficOptions, Omit<Questions, 'domain'> {
  /** One of the rules'. */
  readonly domain: Domain
  /** Is called with what became of each request, in the order of their times. `at`: microseconds since the epoch. */
  readonly onFate?: ((fate: Fate, at: number) => void) | undefined
  /** Shares the work among threads, to the same result. Not with `descriptors` or `onFate`. Default: one does it. */
  readonly jobs?: JobOptions | undefined
}

/**
 * Decides every request of the past at its own time, and counts.
 * @throws LabError for traffic that cannot be read
 * @example
 * const [domain] = await loadRulebook(['rules.yaml'])
 * const report = await simulateTraffic(sourcesOf(['access.log']), { rules: compile([domain]), domain })
 */
export async function simulateTraffic(
  sources: readonly TrafficSource[],
  { rules, domain, descriptors, onFate, jobs, ...traffic }: SimulateOptions,
): Promise<SimulationReport> {
  const study = new SimulateStudy({ rules, domain }, descriptors, onFate)
  const counts = new ReadCounts()
  const lines = { ...traffic, wanted: wantedFields(domain, descriptors !== undefined), domain: domain.name }
  const found =
    jobs === undefined || jobs.count === 1 || descriptors !== undefined || onFate !== undefined
      ? [await runStudy(study, sources, lines, counts)]
      : await runInJobs(study, { kind: 'simulate', domain }, sources, lines, counts, jobs)
  return { ...readSummary(counts), policies: policyReports(found) }
}

/** What a report says of the lines. */
export function readSummary({
  requests,
  unreadable,
  shown,
  late,
}: ReadCounts): Pick<SimulationReport, 'requests' | 'unreadable' | 'unreadableLines' | 'late'> {
  return { requests, unreadable, unreadableLines: shown, late }
}
