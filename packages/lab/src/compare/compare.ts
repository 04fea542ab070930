import type { DescriptorQuery, Domain, Matched, Request, Rules } from '@sluice/limiter/rules'
import { Decider, type Fate, matchPast, type Questions } from '../simulate/decider.ts'
import { policyNames } from '../simulate/policy-names.ts'
import { readSummary, type TrafficOptions } from '../simulate/simulate-traffic.ts'
import { SimulationTally } from '../simulate/tally.ts'
import { wantedFields } from '../simulate/wanted-fields.ts'
import { type LineOptions, ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { ChangeTally } from './change-tally.ts'
import type { Comparison } from './comparison.ts'

/** One of the two rulebooks. */
export interface RulesOfDomain {
  readonly rules: Rules
  /** One of the rules'. */
  readonly domain: Domain
}

export interface CompareOptions extends TrafficOptions, Pick<Questions, 'descriptors'> {
  readonly old: RulesOfDomain
  readonly new: RulesOfDomain
  /** Is called with what became of each request, in the order of their times. `at`: microseconds since the epoch. */
  readonly onFates?: ((fates: BothFates, at: number) => void) | undefined
}

/** What became of a request by each rulebook. */
export interface BothFates {
  readonly old: Fate
  readonly new: Fate
}

/** What both rulebooks find in a request. */
interface Both {
  readonly old: Matched
  readonly new: Matched
  /** Method and path. */
  readonly route: string
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
  { old, new: proposed, descriptors, onFates, ...traffic }: CompareOptions,
): Promise<Comparison> {
  const sides = [new Side(old, descriptors), new Side(proposed, descriptors)] as const
  const counts = new ReadCounts()
  const newlyDenied = new ChangeTally()
  const newlyAdmitted = new ChangeTally()
  const options: LineOptions<Both> = {
    ...traffic,
    wanted: wantedByBoth(old.domain, proposed.domain, descriptors !== undefined),
    domain: old.domain.name,
    make(request, cost, recorded) {
      const [before, after] = [
        sides[0].match(request, cost, recorded),
        sides[1].match(request, cost, recorded),
      ]
      if (typeof before === 'string') return before
      return typeof after === 'string' ? after : { old: before, new: after, route: routeOf(request) }
    },
  }
  for await (const { length, at, duration, made } of readTraffic(sources, options, counts)) {
    for (let i = 0; i < length; i++) {
      const { old: before, new: after, route } = made[i]!
      const was = sides[0].decide(before, at[i]!, duration[i]!)
      const becomes = sides[1].decide(after, at[i]!, duration[i]!)
      onFates?.({ old: was, new: becomes }, at[i]!)
      if (was.allowed === becomes.allowed) continue
      if (was.allowed) newlyDenied.add(becomes.refusedBy!, route, at[i]!)
      else newlyAdmitted.add(was.refusedBy!, route, at[i]!)
    }
  }
  const { requests } = counts
  return {
    ...readSummary(counts),
    old: sides[0].totals(),
    new: sides[1].totals(),
    newlyDenied: newlyDenied.report(requests),
    newlyAdmitted: newlyAdmitted.report(requests),
  }
}

/** One rulebook, with its counters. */
class Side {
  readonly #questions: Questions
  readonly #decider = new Decider()
  readonly #tally: SimulationTally
  #denied = 0

  constructor({ rules, domain }: RulesOfDomain, descriptors: Questions['descriptors']) {
    this.#questions = { rules, domain: domain.name, descriptors }
    this.#tally = new SimulationTally(policyNames(rules.domains.get(domain.name)!, descriptors !== undefined))
  }

  match(
    request: Request,
    cost: number | undefined,
    recorded: readonly DescriptorQuery[] | undefined,
  ): Matched | string {
    return matchPast(this.#questions, request, cost, recorded)
  }

  decide({ steps, missing }: Matched, at: number, duration: number): Fate {
    const fate = this.#decider.decide(steps, at, duration)
    this.#tally.add(fate, missing)
    if (!fate.allowed) this.#denied++
    return fate
  }

  totals(): Comparison['old'] {
    return { denied: this.#denied, policies: this.#tally.reports() }
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

function routeOf({ method = '', path = '' }: Request): string {
  return `${method} ${path}`.trim()
}
