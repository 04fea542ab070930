import { dialectsOf } from '@sluice/limiter/core/respond/dialects'
import type { Event } from '@sluice/limiter/observe/events'
import { createPipeline } from '@sluice/limiter/pipeline'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import type { Store } from '@sluice/limiter/stores/store'
import { adminApp } from './admin/admin-app.ts'
import { answers } from './admin/health.ts'
import type { App, Log } from './app.ts'
import { boundsOf } from './bounds.ts'
import { asking } from './http/ask.ts'
import { httpApp } from './http/http-app.ts'
import { reservationIds } from './http/reservation-id.ts'
import { createJournal, createLog } from './observe/log.ts'
import { createMetrics } from './observe/metrics.ts'
import { Tallies } from './observe/tallies.ts'
import { LiveRules } from './rules/live-rules.ts'
import type { ServiceOptions } from './service-options.ts'

/** A service whose rules are not loaded yet, and to which nobody is listening. */
export interface Parts {
  readonly http: App
  readonly admin: App
  readonly rules: LiveRules
  readonly log: Log
}

/** @throws ConfigError for options that mean nothing */
export function assemble(options: ServiceOptions, stopping: () => boolean): Parts {
  const { respond = {}, secret, mergeDomains = false, wallClock = Date.now } = options
  dialectsOf(respond.dialect ?? 'ietf') // a dialect that there is not must not wait for the first request
  const bounds = boundsOf(options.bounds)
  const log = createLog(options.log ?? {})
  const journal = createJournal(log)
  const store = storeFor(options, (error) => {
    metrics.storeFailed()
    journal.storeFailed(error)
  })
  const tallies = new Tallies(
    (domain, policy) => rules.live?.domains.get(domain)?.policies.has(policy) ?? false,
  )
  const metrics = createMetrics(tallies, store)
  const rules = new LiveRules({
    paths: options.rules,
    load: { mergeDomains },
    compile: secret === undefined ? {} : { secret },
    now: wallClock,
    told(reload) {
      metrics.reloaded(reload)
      journal.reloaded(reload)
    },
  })
  const inForce = () => rules.live!.rules // loaded before anyone is listened to
  const observe = (event: Event): void => {
    tallies.observe(event)
    journal.observe(event)
  }
  const pipeline = createPipeline<boolean>({ rules: inForce, store, respond, observe, wallClock })
  const readiness = async (): Promise<string[]> => [
    ...(stopping() ? ['the service is stopping'] : []),
    ...((await answers(store)) ? [] : ['the store does not answer']),
  ]
  const shared = { store, bounds, log }
  return {
    http: httpApp({ ...shared, ask: asking(pipeline, metrics.timed), ids: reservationIds(secret) }),
    admin: adminApp({ ...shared, match: pipeline.match, rules, registry: metrics.registry, readiness }),
    rules,
    log,
  }
}

/** A store outside this process may be slow or gone: every rule says what happens then. */
function storeFor(
  { store = new MemoryStore(), fallback }: ServiceOptions,
  onFailure: (error: unknown) => void,
): Store {
  if (!store.async || store instanceof FallbackStore) return store
  return new FallbackStore(store, { ...fallback, onFailure })
}
