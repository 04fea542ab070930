import type { DescriptorQuery, Request } from '@sluice/limiter/rules'

/** What a line of a record says was asked. */
export interface AskedLine {
  readonly request: Request
  readonly descriptors?: readonly DescriptorQuery[]
  readonly cost?: number
}
