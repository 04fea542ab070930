import type { Event, Observer } from '@sluice/limiter/events'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { storeFails } from '../admin/health.ts'
import type { Stores } from '../stores.ts'
import { versionOf } from '../version.ts'
import type { PolicyTally, Tallies } from './tallies.ts'

/** What Prometheus reads, and the events that it is made of. */
export interface Metrics {
  readonly registry: Registry
  readonly observe: Observer
}

const SECONDS_BUCKETS = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
]

/** @param droppedLines of the log, until now */
export function createMetrics(tallies: Tallies, stores: Stores, droppedLines: () => number): Metrics {
  const { store, fallback } = stores
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  reportRequests(tallies, registers)
  reportPolicies(tallies, registers)
  if (store instanceof MemoryStore) reportMemory(store, registers)
  if (fallback !== undefined) reportBreaker(stores, registers)
  new Gauge({
    name: 'sluice_build_info',
    help: '1, labelled with the version',
    labelNames: ['version'],
    registers,
  }).set({ version: versionOf() }, 1)
  registerCounter(
    registers,
    'sluice_log_dropped_lines_total',
    'Lines of the log that were dropped, because it is read too slowly',
    [],
    () => [droppedLines()],
    (lines) => [[{}, lines]],
  )
  const duration = new Histogram({
    name: 'sluice_decision_duration_seconds',
    help: 'Time from a question to its answer, without the network',
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const answers = new Histogram({
    name: 'sluice_store_answer_duration_seconds',
    help: 'Time that a shared store took to answer',
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const failures = new Counter({
    name: 'sluice_store_failures_total',
    help: 'Questions that the store did not answer, or not in time',
    registers,
  })
  const repeated = new Counter({
    name: 'sluice_store_repeated_refusals_total',
    help: 'Refusals repeated without asking the store',
    registers,
  })
  const prefetched = new Counter({
    name: 'sluice_store_prefetched_requests_total',
    help: 'Requests granted from units taken ahead, without asking the store',
    registers,
  })
  const reloaded = reportReloads(registers)
  const observe = (event: Event): void => {
    if (event.type === 'answered') duration.observe(event.ms / 1_000)
    else if (event.type === 'store-answered') answers.observe(event.ms / 1_000)
    else if (event.type === 'store-failed') failures.inc()
    else if (event.type === 'repeated') repeated.inc()
    else if (event.type === 'prefetched') prefetched.inc()
    else if (event.type === 'reloaded') reloaded(event.result)
  }
  return { registry, observe }
}

/** A counter whose values are kept elsewhere, as plain integers, and read when it is scraped. */
function registerCounter<Label extends string, T>(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: Label[],
  entries: () => Iterable<T>,
  rows: (entry: T) => readonly (readonly [Record<Label, string>, number])[],
): void {
  new Counter({
    name,
    help,
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const entry of entries()) for (const [labels, value] of rows(entry)) this.inc(labels, value)
    },
  })
}

function reportRequests({ domains }: Tallies, registers: Registry[]): void {
  registerCounter(
    registers,
    'sluice_requests_total',
    'Requests decided',
    ['domain', 'outcome'],
    () => domains,
    ([domain, { allowed, denied }]) => [
      [{ domain, outcome: 'allowed' }, allowed],
      [{ domain, outcome: 'denied' }, denied],
    ],
  )
  registerCounter(
    registers,
    'sluice_requests_degraded_total',
    'Requests decided without the store, of those in sluice_requests_total',
    ['domain'],
    () => domains,
    ([domain, { degraded }]) => [[{ domain }, degraded]],
  )
}

function reportPolicies(tallies: Tallies, registers: Registry[]): void {
  const policies = (): readonly PolicyTally[] => tallies.policies
  registerCounter(
    registers,
    'sluice_policy_decisions_total',
    'What each policy said, for itself: error means without the store, would_limit is said in shadow mode',
    ['domain', 'policy', 'outcome'],
    policies,
    ({ domain, policy, allowed, limited, error, shadow, deprioritized }) => [
      [{ domain, policy, outcome: 'allowed' }, allowed],
      [{ domain, policy, outcome: 'limited' }, limited],
      [{ domain, policy, outcome: 'error' }, error],
      [{ domain, policy, outcome: 'would_limit' }, shadow],
      [{ domain, policy, outcome: 'deprioritized' }, deprioritized],
    ],
  )
  registerCounter(
    registers,
    'sluice_policy_soft_total',
    'Decisions past the policy’s soft threshold',
    ['domain', 'policy'],
    policies,
    ({ domain, policy, soft }) => [[{ domain, policy }, soft]],
  )
  registerCounter(
    registers,
    'sluice_policy_key_missing_total',
    'Requests that a policy skipped, because they lack a part of its key',
    ['domain', 'policy'],
    policies,
    ({ domain, policy, keyMissing }) => [[{ domain, policy }, keyMissing]],
  )
}

function reportMemory(store: MemoryStore, registers: Registry[]): void {
  new Gauge({
    name: 'sluice_store_keys',
    help: 'Keys held in memory',
    registers,
    collect() {
      this.set(store.size)
    },
  })
  new Gauge({
    name: 'sluice_store_bytes',
    help: 'Bytes that their states take, and the ids of settled reservations',
    registers,
    collect() {
      this.set(store.bytes)
    },
  })
  registerCounter(
    registers,
    'sluice_store_shared_charges_total',
    'Charges to keys beyond the most that the store holds, who share buckets',
    [],
    () => [store.sharedCharges],
    (charges) => [[{}, charges]],
  )
}

function reportBreaker(stores: Stores, registers: Registry[]): void {
  new Gauge({
    name: 'sluice_store_up',
    help: '1: the store is asked; 0: it, or a shard of it, kept failing, and rules go by their on_store_error',
    registers,
    async collect() {
      this.set((await storeFails(stores)) ? 0 : 1)
    },
  })
}

function reportReloads(registers: Registry[]): (result: string) => void {
  const reloads = new Counter({
    name: 'sluice_rules_reloads_total',
    help: 'Reloads of the rulebook',
    labelNames: ['result'],
    registers,
  })
  const works = new Gauge({
    name: 'sluice_rules_last_reload_successful',
    help: '1: the files are in force as they were last read; 0: they have a mistake, and older rules are in force',
    registers,
  })
  const since = new Gauge({
    name: 'sluice_rules_last_reload_success_timestamp_seconds',
    help: 'When the rulebook was last read without a mistake',
    registers,
  })
  for (const result of ['changed', 'unchanged', 'refused']) reloads.inc({ result }, 0)
  return (result) => {
    reloads.inc({ result })
    works.set(result === 'refused' ? 0 : 1)
    if (result !== 'refused') since.setToCurrentTime()
  }
}
