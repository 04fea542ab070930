import type { PolicySeconds } from '../live/policy-seconds.ts'
import { HttpError } from './problem.ts'

/**
 * `GET /v1/spikes`: each policy's last quarter of an hour, with its busiest second; and with `domain` and `policy`, that
 * one second by second.
 * @throws HttpError for parameters that are wrong
 * @example
 * spikesCall(seconds, { domain: 'shop', policy: 'login' })
 */
export function spikesCall(seconds: PolicySeconds, parameters: Readonly<Record<string, unknown>>): object {
  const { domain, policy, ...more } = parameters
  if (Object.keys(more).length > 0)
    throw new HttpError(
      400,
      `there is no parameter ${Object.keys(more)[0]!.slice(0, 40)}; there are domain, policy`,
    )
  if (domain === undefined && policy === undefined) return { spikes: seconds.spikes() }
  if (typeof domain !== 'string' || typeof policy !== 'string')
    throw new HttpError(400, 'give both domain and policy, once each, or none of them')
  return { domain, policy, seconds: seconds.rows(domain, policy) }
}
