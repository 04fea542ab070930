import type { Descriptor, Domain, Limit } from '@sluice/limiter/rules'
import type { App } from '../app.ts'
import type { Failure, LiveDomain, LiveRules } from '../rules/live-rules.ts'

/**
 * `GET /v1/rules`: what is in force, since when, and why the files are not if they are not. Values that rules
 * compare with (headers, exempt keys, overrides) may be secrets, and are left out.
 */
export function rulesRoute(app: App, rules: LiveRules): void {
  app.get('/v1/rules', async () => ({
    ...(rules.live !== undefined && {
      version: rules.live.version,
      since: isoTime(rules.live.since),
      domains: [...rules.live.domains.values()].map(domainOf),
    }),
    error: rules.failure === undefined ? null : failureBody(rules.failure),
  }))
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

function failureBody({ since, message, problems }: Failure): object {
  return { since: isoTime(since), message, problems }
}

function domainOf({ domain, since }: LiveDomain): object {
  const { name, limits, descriptors } = domain
  return {
    name,
    since: isoTime(since),
    limits: limits.map(limitBody),
    descriptors: descriptorsOf(descriptors, []),
  }
}

function limitBody({
  name,
  key,
  limit,
  algorithm,
  burst,
  cost,
  mode,
  onLimit,
  onStoreError,
  source,
}: Limit): object {
  return { name, key, limit, algorithm, burst, cost, mode, onLimit, onStoreError, source }
}

/** Every limit of the tree under the entries that lead to it: `["message_type=marketing"]`. */
function descriptorsOf(descriptors: Domain['descriptors'], above: readonly string[]): object[] {
  return descriptors.flatMap((descriptor) => {
    const path = [...above, descriptorLabel(descriptor)]
    const { rateLimit, shadowMode, quotaMode, source } = descriptor
    const below = descriptorsOf(descriptor.descriptors, path)
    if (rateLimit === undefined) return below
    const { name, unlimited, quota, algorithm, burst } = rateLimit
    const mode = shadowMode ? 'shadow' : rateLimit.mode
    return [{ path, name, unlimited, limit: quota, algorithm, burst, mode, quotaMode, source }, ...below]
  })
}

function descriptorLabel({ key, value }: Descriptor): string {
  return value === undefined ? key : `${key}=${value}`
}
