import type { PolicyReport, SimulationReport } from '../simulate/report.ts'

/** What two rulebooks make of the same traffic. */
export interface Comparison
  extends Pick<SimulationReport, 'requests' | 'unreadable' | 'unreadableLines' | 'late'> {
  readonly old: RulebookTotals
  readonly new: RulebookTotals
  /** Admitted by the old rules, refused by the new ones. */
  readonly newlyDenied: Change
  /** Refused by the old rules, admitted by the new ones. */
  readonly newlyAdmitted: Change
}

/** As a simulation with these rules alone says it. */
export interface RulebookTotals {
  /** Requests that were refused. */
  readonly denied: number
  readonly policies: readonly PolicyReport[]
}

/** Requests whose fate differs. */
export interface Change {
  readonly requests: number
  /** Of all requests, 0–1. */
  readonly share: number
  /** Different keys of the policies that refused them. */
  readonly keys: number
  /** Times as in ISO 8601; `null` where nothing changed. */
  readonly first: string | null
  readonly last: string | null
  /** The minute with the most of them. */
  readonly worst: { readonly minute: string; readonly requests: number } | null
  /** By the policy that refused; all of them, most first. */
  readonly byPolicy: readonly { readonly policy: string; readonly requests: number }[]
  /** The ten keys with the most. */
  readonly topKeys: readonly { readonly policy: string; readonly key: string; readonly requests: number }[]
  /** The ten routes with the most: method and path. */
  readonly topRoutes: readonly { readonly route: string; readonly requests: number }[]
}
