import type { SimulationReport } from '../simulate/report.ts'

/** All that the page of a report shows. Its size is bounded, whatever the log. Times are milliseconds of the log. */
export interface TrafficFigures {
  /** What was replayed, such as a file's name. */
  readonly traffic: string
  readonly domain: string
  /** The same as the simulation gives alone. */
  readonly simulation: SimulationReport
  /** Time of the first and of the last request; `null` where there is none. */
  readonly first: number | null
  readonly last: number | null
  /** Requests that were refused. */
  readonly denied: number
  /** Requests that were admitted, and that a limit which does not refuse (in shadow mode, for instance) is over with. */
  readonly overOnly: number
  readonly timeline: Timeline
  /** Every policy, in the order of the simulation. */
  readonly limits: readonly LimitFigures[]
}

/** Requests over time, a number for each bin; those that were admitted are what is left. */
export interface Timeline {
  /** When the first bin begins. */
  readonly start: number
  /** Milliseconds that a bin lasts. */
  readonly width: number
  readonly requests: readonly number[]
  readonly denied: readonly number[]
  readonly overOnly: readonly number[]
}

export interface LimitFigures {
  readonly name: string
  /** The quotas that it went by, such as those of plans: the eight met most, most first. */
  readonly quotas: readonly QuotaFigures[]
  /** Keys that came, and those that were refused something. */
  readonly keys: number
  readonly keysDenied: number
  /** False where there were too many keys to hold all: those seen least were let go, and counted anew when they came again. */
  readonly isExact: boolean
  /** How many refusals asked for which wait. */
  readonly waits: readonly WaitCount[]
  /** The keys refused most, then those that came nearest to the limit; none of the limits after the eighth. */
  readonly top: readonly KeyTraffic[]
}

export interface QuotaFigures {
  readonly limit: number
  /** The largest cost that is admitted at once. */
  readonly capacity: number
  readonly periodMs: number
  /** The calendar that the period follows. */
  readonly calendar?: string
  readonly algorithm: string
  readonly role: string
  readonly requests: number
  /** Whether its units are slots, which are held and given back. */
  readonly holds?: true
  /** Keys by the most units that each asked for within one period; absent for slots, and where rules are compared. */
  readonly rates?: readonly RateCount[]
}

/** Keys of which the busiest period had from `from` to `to` units; `isOver`: more than the limit, or the burst where it is higher. */
export interface RateCount {
  readonly from: number
  readonly to: number
  readonly keys: number
  readonly isOver: boolean
}

/** Refusals that asked for a wait of up to so many milliseconds; `null`: no wait helps. */
export interface WaitCount {
  readonly toMs: number | null
  readonly denied: number
}

/** One key, with a number for each bin of the timeline. */
export interface KeyTraffic {
  readonly key: string
  readonly requests: number
  readonly denied: number
  /** False where its first bins had to be let go for want of room. */
  readonly isWhole: boolean
  readonly series: { readonly requests: readonly number[]; readonly denied: readonly number[] }
  /** The highest share of the limit in use, in percent. */
  readonly fullness: readonly number[]
}
