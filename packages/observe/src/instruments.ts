import { ConfigError } from '@sluice/limiter/errors'
import { everyObserver, type Observer } from '@sluice/limiter/events'
import { checkOptions, having, type OptionCheck, objectOf } from '@sluice/limiter/options'
import { type Store, storeCheck } from '@sluice/limiter/stores/store'
import type { OpenMetricsContentType, Registry } from 'prom-client'
import { BreakerWatch } from './breaker-watch.ts'
import { reportCalls } from './metrics/call-metrics.ts'
import { reportDurations } from './metrics/duration-metrics.ts'
import { reportDecisions } from './metrics/policy-metrics.ts'
import { reportStore } from './metrics/store-metrics.ts'
import { Tallies } from './metrics/tallies.ts'
import { SeenPolicies } from './seen-policies.ts'
import type { WatchedStore } from './store-fails.ts'

export interface InstrumentsOptions {
  /** The app's registry of prom-client: the metrics are added to it. Default: they are in none. */
  readonly registry?: Registry | Registry<OpenMetricsContentType>
  /**
   * The store that the app's limiters share: for its own metrics, and so that the dashboard can look up, reset and block
   * a key. Default: not known.
   */
  readonly store?: Store
}

/** What watches the limiters of an app. */
export interface Instruments {
  /** To be given as `observe` to limiters, pipelines and middleware: to one of them for each decision. */
  readonly observe: Observer
  /** Adds observers of the same events. */
  add(...observers: Observer[]): void
  /** What was counted. */
  readonly tallies: Tallies
  /** The limits that have decided a request. */
  readonly policies: SeenPolicies
  readonly stores: WatchedStore
}

const OPTIONS: OptionCheck = objectOf<InstrumentsOptions>({
  registry: having('a registry of prom-client', 'registerMetric', 'getSingleMetric', 'metrics'),
  store: storeCheck,
})

/**
 * The instruments of the service for an app: the same metrics, with `layer="app"`. Labels are names of limiters and
 * policies, never what a client sends; beyond 1,000 policies they are counted as `others`.
 * @throws ConfigError for a registry that has these metrics already: an app needs instruments once
 * @example
 * const instruments = createInstruments({ registry: register }) // prom-client's default registry
 * app.use(rateLimit({ limit: 100, period: '1m', observe: instruments.observe }))
 */
export function createInstruments(options: InstrumentsOptions = {}): Instruments {
  checkOptions(options, OPTIONS)
  const { registry, store } = options
  const policies = new SeenPolicies()
  const tallies = new Tallies((domain, policy) => policies.find(domain, policy) !== undefined)
  const stores = new BreakerWatch(store)
  const { observe, add } = everyObserver()
  add(policies.observe, tallies.observe, stores.observe)
  if (registry !== undefined) add(...metricsOf(registry, tallies, stores))
  return { observe, add, tallies, policies, stores }
}

function metricsOf(
  registry: NonNullable<InstrumentsOptions['registry']>,
  tallies: Tallies,
  stores: WatchedStore,
): readonly Observer[] {
  if (registry.getSingleMetric('sluice_requests_total') !== undefined)
    throw new ConfigError('the registry has these metrics already: make instruments once, and share them', {
      path: ['registry'],
    })
  const registers = [registry as Registry]
  reportDecisions(tallies, registers)
  // The breaker is not made to look: requests do, and nobody else is waiting.
  const fails = async (): Promise<boolean> => (stores.fallback?.state ?? 'closed') !== 'closed'
  return [reportDurations(registers, ['app']), reportStore(stores, registers, fails), reportCalls(registers)]
}
