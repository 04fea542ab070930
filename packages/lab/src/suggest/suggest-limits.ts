import { type AlgorithmName, algorithms } from '@sluice/limiter/algorithms'
import { compile, type Domain, type When } from '@sluice/limiter/rules'
import { ticksOf } from '@sluice/limiter/time'
import { loadText } from '@sluice/rulebook'
import { matchPast } from '../simulate/decider.ts'
import { readSummary, type TrafficOptions } from '../simulate/simulate-traffic.ts'
import { wantedFields } from '../simulate/wanted-fields.ts'
import type { LineOptions } from '../traffic/line-maker.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { keysAbove } from './above.ts'
import { Arrivals, type KeyArrivals, spanOfArrivals } from './arrivals.ts'
import { Costs } from './cost.ts'
import { demandOf } from './demand.ts'
import { type Choice, type DenialBound, type FrontierPoint, PeriodSearch } from './frontier.ts'
import { Habits } from './habits.ts'
import { replayRules } from './replay-rules.ts'
import { limitText } from './rule-text.ts'
import type { AlgorithmSuggestion, SuggestedPoint, Suggestion } from './suggestion.ts'
import { type ShareOf, sessionsOf } from './trial.ts'
import { writtenRule } from './written-rule.ts'

export interface SuggestOptions extends TrafficOptions {
  /** Parts of the key, as rules write them, such as `ip`. */
  readonly key: readonly string[]
  /** Which requests count; default: all. */
  readonly when?: When | undefined
  /** What a request costs, as rules write it. Default: what `cost` says, or 1. Limits and rates are then of costs. */
  readonly ruleCost?: number | string | undefined
  /** The most that may be refused, 0–1. */
  readonly share: number
  /** Of what. Default: of requests. Sessions of a key are 30 minutes apart. */
  readonly of?: ShareOf | undefined
  /** Requests, or what they cost, that the next hop takes in a second: no choice lets more pass at once, nor in the busiest second. */
  readonly nextHop?: number | undefined
  /** Default: a second, ten, a minute, ten, an hour. */
  readonly periods?: readonly string[] | undefined
  /** Whose rule is written. Default: the first that keeps the allowance. */
  readonly algorithm?: AlgorithmName | undefined
  /** What was read, for the comment of the rule. Default: the names of the sources. */
  readonly name?: string | undefined
}

const MINUTE = 60_000_000
const PERIODS = ['1s', '10s', '1m', '10m', '1h']

/**
 * Finds limits that refuse at most a share of what a log holds. The log is read once for all choices; the chosen ones are
 * then replayed as rules.
 * @throws LabError for traffic that cannot be read; ConfigError for a key or a condition that is none
 * @example
 * const { rule } = await suggestLimits(sourcesOf(['access.log']), { key: ['ip'], share: 0.001 })
 */
export async function suggestLimits(
  sources: readonly TrafficSource[],
  options: SuggestOptions,
): Promise<Suggestion> {
  const { of = 'requests', share, nextHop = Number.MAX_SAFE_INTEGER } = options
  const { counts, names, arrivals, habits, missing } = await collect(sources, options)
  const met = { requests: arrivals.count, keys: arrivals.keys, sessions: sessionsOf(arrivals) }
  const allowance: DenialBound = { of, most: Math.floor(share * met[of] + 1e-9) }
  const costs = new Costs(arrivals)
  const notes = [
    ...(missing > 0 ? [`${missing} requests lack the key, and do not count`] : []),
    ...(arrivals.cost === undefined
      ? []
      : ['limits, bursts and all that is asked for or passes are of what requests cost']),
  ]
  const found = searchAll(arrivals, allowance, options, costs, met[of], nextHop, notes)
  const chosen = await verified(sources, options, found, met.requests, notes)
  const written = chosen.find(
    ({ algorithm, chosen: point }) => point !== null && (options.algorithm ?? algorithm) === algorithm,
  )
  const [first, last] = spanOfArrivals(arrivals)
  const suggestion = {
    ...readSummary(counts),
    met: { ...met, first, last },
    allowance: { share, of, most: allowance.most },
    demand: demandOf(arrivals),
    unlimited: costs.unlimited,
    algorithms: chosen,
    notes,
  }
  return {
    ...suggestion,
    above:
      written === undefined
        ? []
        : keysAbove(arrivals, names, habits, written.algorithm, choiceOf(written.chosen!)),
    rule:
      written === undefined
        ? null
        : writtenRule(
            options,
            arrivals.cost !== undefined,
            suggestion,
            written.algorithm,
            written.chosen!,
            sources,
          ),
  }
}

interface CollectedArrivals {
  readonly counts: ReadCounts
  readonly names: readonly string[]
  readonly arrivals: KeyArrivals
  readonly habits: Habits
  readonly missing: number
}

/** What is made of a request: the number of its key, below 0 where the rule does not meet it, and its cost. */
interface Keyed {
  readonly key: number
  readonly cost: number
}

const UNMET: Keyed = { key: -1, cost: 0 }
const LACKING: Keyed = { key: -2, cost: 0 }

async function collect(
  sources: readonly TrafficSource[],
  options: SuggestOptions,
): Promise<CollectedArrivals> {
  const limit = typeof options.ruleCost === 'number' ? Math.max(1, options.ruleCost) : 1
  const domain = domainOf(limitText('each', options, { limit }, '1s', FIRST_ALGORITHM))
  const questions = { rules: compile([domain]), domain: domain.name }
  const counts = new ReadCounts()
  const habits = new Habits()
  const keys = new Map<string, number>()
  const lineOptions: LineOptions<Keyed> = {
    ...trafficOf(options),
    wanted: wantedFields(domain, false),
    make(request, cost) {
      const matched = matchPast(questions, request, cost)
      if (typeof matched === 'string') return matched
      const step = matched.steps[0]
      if (step === undefined) return matched.missing.length > 0 ? LACKING : UNMET
      const key = keys.get(step.key) ?? keys.size
      keys.set(step.key, key)
      return { key, cost: step.cost }
    },
    onLine({ key }, line) {
      if (key >= 0) habits.note(key, line)
    },
  }
  const arrivals = new Arrivals()
  let missing = 0
  for await (const { length, at, duration, made } of readTraffic(sources, lineOptions, counts)) {
    for (let i = 0; i < length; i++) {
      const { key, cost } = made[i]!
      if (key >= 0) arrivals.add(key, at[i]!, duration[i]!, cost)
      else if (key === LACKING.key) missing++
    }
  }
  return { counts, names: [...keys.keys()], arrivals: arrivals.byKey(keys.size), habits, missing }
}

const FIRST_ALGORITHM = Object.keys(algorithms)[0]!

function domainOf(limits: string): Domain {
  return loadText(`domain: suggested\nlimits:\n${limits}`)[0]!
}

function trafficOf({ format, fields, cost, held, onBytes }: SuggestOptions): TrafficOptions {
  return { format, fields, cost, held, onBytes }
}

/** The frontier of each algorithm, with what its points cost. */
function searchAll(
  arrivals: KeyArrivals,
  allowance: DenialBound,
  { periods = PERIODS, share }: SuggestOptions,
  costs: Costs,
  all: number,
  nextHop: number,
  notes: string[],
): AlgorithmSuggestion[] {
  if (arrivals.count === 0) return []
  const searches = periods.map((period) => ({
    period,
    search: new PeriodSearch(arrivals, allowance, ticksOf(period), nextHop),
  }))
  let tooFast = 0
  const found = Object.entries(algorithms).map(([name, algorithm]) => {
    const own = algorithm.traits.holds === true ? heldPeriods(searches, arrivals, notes) : searches
    const points = own.flatMap(({ period, search }) =>
      search.pointsOf(algorithm).flatMap((point) => {
        const { denied, peakRate, worstBurst } = costs.of(search, algorithm, point.choice)
        if (peakRate > nextHop) {
          tooFast++
          return []
        }
        return [suggested(point, period, allowance.of, all, { denied, peakRate, worstBurst })]
      }),
    )
    const kept = points.filter((point) => !points.some((other) => undercuts(other, point)))
    return { algorithm: name as AlgorithmName, points: kept, chosen: leastOf(kept) }
  })
  if (tooFast > 0)
    notes.push(
      `${tooFast} choices are left out: with them more than the next hop takes would pass in one second`,
    )
  if (found.every(({ points }) => points.length === 0))
    notes.push(
      `no limit by this key refuses at most ${share * 100} %${tooFast > 0 ? ' and spares the next hop: add one limit for all' : ''}`,
    )
  return found
}

function suggested(
  { choice, oneLower }: FrontierPoint,
  period: string,
  of: ShareOf,
  all: number,
  { denied, peakRate, worstBurst }: Pick<SuggestedPoint, 'denied' | 'peakRate' | 'worstBurst'>,
): SuggestedPoint {
  const { limit, burst } = choice
  return {
    limit,
    ...(burst !== undefined && { burst }),
    period,
    denied,
    share: denied[of] / all,
    oneLowerShare: oneLower / all,
    peakRate,
    worstBurst,
  }
}

/**
 * How long slots may be held: where the log says how long requests took, the first period that is as long as all of
 * them; else every period, as if each request held its slot for all of it.
 */
function heldPeriods<S extends { readonly search: PeriodSearch }>(
  searches: readonly S[],
  { duration }: KeyArrivals,
  notes: string[],
): readonly S[] {
  if (duration === undefined) {
    notes.push(
      'the log does not say how long requests take: each is taken to hold its slot for the whole period',
    )
    return searches
  }
  const longest = duration.reduce((a, b) => Math.max(a, b), 0)
  const enough = searches.find(({ search }) => search.period >= longest) ?? searches.at(-1)!
  return [enough]
}

/** Whether a bucket has neither a higher rate nor a larger burst than another, and less of one. Windows are not compared. */
function undercuts(a: SuggestedPoint, b: SuggestedPoint): boolean {
  if (a.burst === undefined || b.burst === undefined) return false
  const [rateA, rateB] = [a.limit / ticksOf(a.period), b.limit / ticksOf(b.period)]
  return rateA <= rateB && a.burst <= b.burst && (rateA < rateB || a.burst < b.burst)
}

/** The point that lets one key have the least in a minute; of equal ones, that with the shortest period. */
function leastOf(points: readonly SuggestedPoint[]): SuggestedPoint | null {
  let [best, least]: [SuggestedPoint | null, number] = [null, Number.POSITIVE_INFINITY]
  for (const point of points) {
    const periods = MINUTE / ticksOf(point.period)
    const { limit, burst } = point
    const passes = burst === undefined ? limit * Math.ceil(periods) : burst + limit * periods
    if (passes < least) [best, least] = [point, passes]
  }
  return best
}

function choiceOf({ limit, burst, period }: SuggestedPoint): Choice {
  return { limit, ...(burst !== undefined && { burst }), period: ticksOf(period) }
}

/** Replays the chosen points as rules, and notes what they refuse. */
async function verified(
  sources: readonly TrafficSource[],
  options: SuggestOptions,
  found: readonly AlgorithmSuggestion[],
  requests: number,
  notes: string[],
): Promise<AlgorithmSuggestion[]> {
  const chosen = found.filter(({ chosen: point }) => point !== null)
  if (chosen.length === 0) return [...found]
  if (sources.some(({ isRepeatable }) => !isRepeatable)) {
    notes.push('the choices were not replayed: the log can be read only once')
    return [...found]
  }
  const limits = chosen.map(({ algorithm, chosen: point }) =>
    limitText(algorithm, options, choiceOf(point!), point!.period, algorithm),
  )
  const replayed = await replayRules(sources, domainOf(limits.join('')), trafficOf(options))
  return found.map((suggestion) => {
    const denied = replayed.get(suggestion.algorithm)
    if (suggestion.chosen === null || denied === undefined) return suggestion
    return { ...suggestion, chosen: { ...suggestion.chosen, replayed: { denied, share: denied / requests } } }
  })
}
