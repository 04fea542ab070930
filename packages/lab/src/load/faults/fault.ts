import type { Subject } from './subject.ts'

/** What limiters get wrong. */
export const FAULTS = {
  'double-burst': 'admits about twice the limit across the edge of a window',
  'no-retry-after': 'a refusal does not say how long to wait',
  'wait-too-short': 'is asked again exactly after the wait that it stated, and refuses',
  'wait-too-long': 'admits long before the wait that it stated is over',
  'remaining-untrue': 'says that more, or less, remains than it then admits',
  'status-503': 'answers 503, the status of a broken server, instead of 429',
  'limit-per-instance':
    'admits more than the limit at once, as several instances do that do not share counters',
  'forged-forwarded-for': 'gives a new quota for each address that a client writes into a header',
  'refusals-prolong': 'refused requests count, so a client that goes on asking is never admitted again',
} as const

export type FaultName = keyof typeof FAULTS

export interface Finding {
  readonly fault: FaultName
  /** `undefined`: it could not be tried, `evidence` says why. */
  readonly found: boolean | undefined
  /** The figures that show it. */
  readonly evidence: string
}

/** Looks for one fault, with keys of its own. */
export interface Probe {
  readonly fault: FaultName
  run(subject: Subject): Promise<Pick<Finding, 'found' | 'evidence'>>
}

export function untried(evidence: string): Pick<Finding, 'found' | 'evidence'> {
  return { found: undefined, evidence }
}
