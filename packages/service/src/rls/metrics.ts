import { type Observer, observerOf } from '@sluice/limiter/events'
import { BucketCounts, keptCounter, keptHistogram } from '@sluice/observe/parts'
import { Counter, type Registry } from 'prom-client'
import type { LimitTally, RlsTallies } from './tallies.ts'

const HITS = ['total_hits', 'over_limit', 'near_limit', 'within_limit', 'shadow_mode'] as const
const SECONDS_BUCKETS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
const METHOD = { grpc_method: 'ShouldRateLimit' }

/** The time of answers, under the name that envoyproxy/ratelimit's Prometheus mapping has. @returns its observer */
export function rlsTimes(registry: Registry): (ms: number) => void {
  const times = new BucketCounts(SECONDS_BUCKETS)
  keptHistogram(
    [registry],
    {
      name: 'ratelimit_service_response_time_seconds',
      help: 'Time to an answer of ShouldRateLimit, without the network',
      rows: () => [[METHOD, times]],
    },
    SECONDS_BUCKETS,
  )
  keptCounter([registry], {
    name: 'ratelimit_service_total_requests',
    help: 'Calls of ShouldRateLimit',
    labelNames: ['grpc_method'],
    rows: () => [[METHOD, times.count]],
  })
  return (ms) => times.add(ms / 1_000)
}

/** Reloads, by the same names. */
export function rlsReloads(registry: Registry): Observer {
  const [success, error] = (['success', 'error'] as const).map(
    (result) =>
      new Counter({
        name: `ratelimit_service_config_load_${result}`,
        help: `Loads of the rules: ${result}`,
        registers: [registry],
      }),
  )
  return observerOf(['reloaded'], (event) => {
    if (event.type === 'reloaded') (event.result === 'refused' ? error : success)!.inc()
  })
}

/** What is counted for dashboards made for envoyproxy/ratelimit, under the names of its Prometheus mapping. */
export function reportRls(registry: Registry, tallies: RlsTallies): void {
  for (const hits of HITS) {
    keptCounter<string>([registry], {
      name: `ratelimit_service_rate_limit_${hits}`,
      help: `Hits of limits of descriptors: ${hits}`,
      labelNames: ['domain', 'key1', 'key2'],
      rows: () => tallies.limits.map((tally) => [labelsOf(tally), tally[hits]]),
    })
  }
  keptCounter([registry], {
    name: 'ratelimit_service_should_rate_limit_error',
    help: 'Calls that failed',
    labelNames: ['err_type'],
    rows: () => Object.entries(tallies.errors).map(([err_type, count]) => [{ err_type }, count]),
  })
  keptCounter([registry], {
    name: 'ratelimit_service_global_shadow_mode',
    help: 'Calls over a limit while all limits report alone',
    rows: () => [[{}, tallies.globalShadow]],
  })
  keptCounter([registry], {
    name: 'ratelimit_service_domain_not_found',
    help: 'Calls for domains that no rule names',
    rows: () => [[{}, tallies.domainsNotFound]],
  })
}

function labelsOf({ domain, key1, key2 }: LimitTally): Record<string, string> {
  return key2 === '' ? { domain, key1 } : { domain, key1, key2 }
}
