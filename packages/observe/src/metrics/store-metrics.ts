import { type Event, type Observer, observerOf } from '@sluice/limiter/events'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { storeFails, type WatchedStore } from '../store-fails.ts'
import { keptCounter, keptGauge } from './kept-metrics.ts'
import { SECONDS_BUCKETS } from './seconds-buckets.ts'

const BREAKER_STATES = ['closed', 'open', 'probing'] as const

/**
 * How the store is.
 * @param fails whether it does, as it is asked at each scrape
 * @returns the observer that the figures are made of
 * @example
 * add(reportStore({ store }, [registry]))
 */
export function reportStore(
  stores: WatchedStore,
  registers: Registry[],
  fails: () => Promise<boolean> = () => storeFails(stores),
): Observer {
  const { store, fallback } = stores
  if (store instanceof MemoryStore) reportMemory(store, registers)
  if (fallback !== undefined) reportBreaker(stores, registers, fails)
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
  const answers = new Histogram({
    name: 'sluice_store_answer_duration_seconds',
    help: 'Time that a shared store took to answer',
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const failures = counter(
    'sluice_store_failures_total',
    'Questions that the store did not answer, or not in time',
  )
  const timeouts = counter(
    'sluice_store_timeouts_total',
    'Questions that the store did not answer in time, of those in sluice_store_failures_total',
  )
  const repeated = counter(
    'sluice_store_repeated_refusals_total',
    'Refusals repeated without asking the store',
  )
  const prefetched = counter(
    'sluice_store_prefetched_requests_total',
    'Requests granted from units taken ahead, without asking the store',
  )
  const types = ['store-answered', 'store-failed', 'repeated', 'prefetched'] as const
  return observerOf(types, (event: Event) => {
    if (event.type === 'store-answered') answers.observe(event.ms / 1_000)
    else if (event.type === 'store-failed') {
      failures.inc()
      if (event.late === true) timeouts.inc()
    } else if (event.type === 'repeated') repeated.inc()
    else if (event.type === 'prefetched') prefetched.inc()
  })
}

function reportMemory(store: MemoryStore, registers: Registry[]): void {
  keptGauge(registers, {
    name: 'sluice_store_keys',
    help: 'Keys held in memory',
    rows: () => [[{}, store.size]],
  })
  keptGauge(registers, {
    name: 'sluice_store_bytes',
    help: 'Bytes that their states take, and the ids of settled reservations',
    rows: () => [[{}, store.bytes]],
  })
  keptCounter(registers, {
    name: 'sluice_store_shared_charges_total',
    help: 'Charges to keys beyond the most that the store holds, who share buckets',
    rows: () => [[{}, store.sharedCharges]],
  })
}

function reportBreaker(stores: WatchedStore, registers: Registry[], look: () => Promise<boolean>): void {
  let looking: Promise<boolean> | undefined
  // Of one scrape: the look itself changes the breaker.
  const fails = (): Promise<boolean> => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
  new Gauge({
    name: 'sluice_store_up',
    help: '1: the store is asked; 0: it, or a shard of it, kept failing, and rules go by their on_store_error',
    registers,
    async collect() {
      this.set((await fails()) ? 0 : 1)
    },
  })
  new Gauge({
    name: 'sluice_store_breaker_state',
    help: '1 for the state of the circuit breaker, of several shards that of the worst; 0 for the other states',
    labelNames: ['state'],
    registers,
    async collect() {
      await fails()
      for (const state of BREAKER_STATES) this.set({ state }, stores.fallback?.state === state ? 1 : 0)
    },
  })
}
