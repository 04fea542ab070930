import type { DescriptorQuestion, DescriptorReply } from '../operations/descriptors.ts'
import type { RateLimitRequest, RateLimitResponse } from './messages.ts'
import { readRequest } from './read-request.ts'
import type { RlsTallies } from './tallies.ts'
import { type ResponseOptions, responseOf } from './write-response.ts'

/**
 * `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`, over whatever transport.
 * @param withinMs milliseconds that the caller waits, above 0
 * @throws OperationError for a request that cannot be decided, StoreError for a refund that cannot be made
 */
export type ShouldRateLimit = (request: RateLimitRequest, withinMs: number) => Promise<RateLimitResponse>

export interface RlsParts {
  readonly decide: (question: DescriptorQuestion) => Promise<DescriptorReply>
  readonly tallies: RlsTallies
  readonly options: ResponseOptions
}

/** Translates in, asks, translates out. */
export function shouldRateLimit({ decide, tallies, options }: RlsParts): ShouldRateLimit {
  return async (request, withinMs) => {
    const began = performance.now()
    try {
      const question = readRequest(request)
      const { domain, descriptors, cost } = question
      const reply = await decide({ domain, descriptors, cost, withinMs })
      tallies.count(domain, reply, options.shadow === true)
      return responseOf(question, reply, options)
    } catch (error) {
      tallies.failed(error)
      throw error
    } finally {
      tallies.answered(performance.now() - began)
    }
  }
}
