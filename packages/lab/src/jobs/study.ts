import type { Step } from '@sluice/limiter/decide'
import type { DescriptorQuery, Request } from '@sluice/limiter/rules'

/**
 * What is done with the requests of a log, and what comes of it. Where the keys of its rules can be parted, several
 * instances share the work, each with requests of other keys, and what comes of them is added up.
 */
export interface Study<Made extends object, Result> {
  /** What rules find in a request; equal requests may share it. A text says why it cannot be decided. */
  match(
    request: Request,
    cost: number | undefined,
    recorded: readonly DescriptorQuery[] | undefined,
  ): Made | string
  /** The states that a request touches. */
  steps(made: Made): readonly Step[]
  /** Requests come in the order of their times: microseconds since the epoch, and how long each took, or −1. */
  decide(made: Made, at: number, duration: number): void
  /** Plain data, which another thread can take. */
  result(): Result
}
