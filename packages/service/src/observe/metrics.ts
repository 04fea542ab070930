import type { Observer } from '@sluice/limiter/events'
import {
  keptCounter,
  reportDecisions,
  reportDurations,
  reportStore,
  type Tallies,
  type WatchedStore,
} from '@sluice/observe/parts'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { LiveRules } from '../rules/live-rules.ts'
import { versionOf } from '../version.ts'
import { reportRules } from './rules-metrics.ts'

/** What Prometheus reads, and the events that it is made of. */
export interface Metrics {
  readonly registry: Registry
  readonly observers: readonly Observer[]
}

export interface MetricsParts {
  readonly tallies: Tallies
  readonly stores: WatchedStore
  readonly rules: () => Pick<LiveRules, 'live' | 'failure'>
  /** Lines of the log that were dropped until now. */
  readonly droppedLines: () => number
}

/** All metrics of the service but those of Envoy's APIs, which are added to the registry. */
export function createMetrics({ tallies, stores, rules, droppedLines }: MetricsParts): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  reportDecisions(tallies, registers)
  new Gauge({
    name: 'sluice_build_info',
    help: '1, labelled with the version',
    labelNames: ['version'],
    registers,
  }).set({ version: versionOf() }, 1)
  keptCounter(registers, {
    name: 'sluice_log_dropped_lines_total',
    help: 'Lines of the log that were dropped, because it is read too slowly',
    rows: () => [[{}, droppedLines()]],
  })
  const observers = [
    reportDurations(registers, ['edge', 'service']),
    reportStore(stores, registers),
    reportRules(rules, registers),
  ]
  return { registry, observers }
}
