import type { Event } from '@sluice/limiter/observe/events'
import { createPipeline } from '@sluice/limiter/pipeline'
import { adminApp } from './admin/admin-app.ts'
import { answers, type Readiness } from './admin/health.ts'
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
import { storesFor } from './stores.ts'

/** A service whose rules are not loaded yet, and to which nobody is listening. */
export interface Parts {
  readonly http: App
  readonly admin: App
  readonly rules: LiveRules
  readonly log: Log
  /** Gives back what was taken ahead from a shared store. */
  readonly release: () => Promise<void>
}

/** @throws ConfigError for options that mean nothing */
export function assemble(options: ServiceOptions, stopping: () => boolean): Parts {
  const { respond = {}, secret, mergeDomains = false, wallClock = Date.now } = options
  const bounds = boundsOf(options.bounds)
  const log = createLog(options.log ?? {})
  const journal = createJournal(log)
  const stores = storesFor(options, {
    answered: (ms) => metrics.storeAnswered(ms / 1_000),
    failed(error) {
      metrics.storeFailed()
      journal.storeFailed(error)
    },
  })
  const { store } = stores
  const tallies = new Tallies(
    (domain, policy) => rules.live?.domains.get(domain)?.policies.has(policy) ?? false,
  )
  const metrics = createMetrics(tallies, stores)
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
  const readiness: Readiness = async () => {
    const storeFails = (await answers(store)) ? [] : ['the store does not answer']
    const needsStore = options.readiness === 'store'
    return {
      reasons: [...(stopping() ? ['the service is stopping'] : []), ...(needsStore ? storeFails : [])],
      warnings: needsStore ? [] : storeFails,
    }
  }
  const shared = { store, bounds, log }
  return {
    http: httpApp({ ...shared, ask: asking(pipeline, metrics.timed), ids: reservationIds(secret) }),
    admin: adminApp({ ...shared, match: pipeline.match, rules, registry: metrics.registry, readiness }),
    rules,
    log,
    release: async () => stores.prepaid?.release(),
  }
}
