import type { Domain, Matched } from '@sluice/limiter/rules'
import { type LineOptions, ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { Decider, type Fate, matchPast, type Questions } from './decider.ts'
import { policyNames } from './policy-names.ts'
import type { SimulationReport } from './report.ts'
import { SimulationTally } from './tally.ts'
import { wantedFields } from './wanted-fields.ts'

/** How a log is read. */
export type TrafficOptions = Pick<LineOptions<object>, 'format' | 'fields' | 'cost' | 'held' | 'onBytes'>

export interface SimulateOptions extends TrafficOptions, Omit<Questions, 'domain'> {
  /** One of the rules'. */
  readonly domain: Domain
  /** Is called with what became of each request, in the order of their times. `at`: microseconds since the epoch. */
  readonly onFate?: ((fate: Fate, at: number) => void) | undefined
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
  { rules, domain, descriptors, onFate, ...traffic }: SimulateOptions,
): Promise<SimulationReport> {
  const questions: Questions = { rules, domain: domain.name, descriptors }
  const decider = new Decider()
  const tally = new SimulationTally(policyNames(rules.domains.get(domain.name)!, descriptors !== undefined))
  const counts = new ReadCounts()
  const options: LineOptions<Matched> = {
    ...traffic,
    wanted: wantedFields(domain, descriptors !== undefined),
    domain: domain.name,
    make: (request, cost, recorded) => matchPast(questions, request, cost, recorded),
  }
  for await (const { length, at, duration, made } of readTraffic(sources, options, counts)) {
    for (let i = 0; i < length; i++) {
      const { steps, missing } = made[i]!
      const fate = decider.decide(steps, at[i]!, duration[i]!)
      tally.add(fate, missing)
      onFate?.(fate, at[i]!)
    }
  }
  return { ...readSummary(counts), policies: tally.reports() }
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
