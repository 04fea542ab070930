import type { Unreadable } from '../traffic/entry.ts'

/** What would have happened. */
export interface SimulationReport {
  readonly requests: number
  /** Lines that are no request; with `requests`, every line but a CSV's header. */
  readonly unreadable: number
  /** The first ten of them. */
  readonly unreadableLines: readonly Unreadable[]
  /** Lines too far out of order to be put in their place: decided at the time that had been reached. */
  readonly late: number
  readonly policies: readonly PolicyReport[]
}

/** One policy on its own: a request that another one refused counts here as this one saw it. */
export interface PolicyReport {
  readonly name: string
  readonly matched: number
  readonly admitted: number
  /** What it refused, or would have: a policy in shadow mode counts alike. */
  readonly denied: number
  /** 0–1. */
  readonly deniedShare: number
  /** Requests that it let be because they lack a part of its key. */
  readonly missingKey: number
  /** The ten keys denied most, most denied first. */
  readonly top: readonly { readonly key: string; readonly denied: number }[]
}
