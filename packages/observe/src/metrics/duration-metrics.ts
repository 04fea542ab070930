import { type AnsweredLayer, type Observer, observerOf } from '@sluice/limiter/events'
import type { Registry } from 'prom-client'
import { BucketCounts } from './bucket-counts.ts'
import { keptHistogram } from './kept-metrics.ts'
import { SECONDS_BUCKETS } from './seconds-buckets.ts'

/**
 * How long answers took, by layer.
 * @param layers that are there from the beginning, with no answers yet
 * @returns the observer that the figures are made of
 * @example
 * add(reportDurations([registry], ['app']))
 */
export function reportDurations(registers: Registry[], layers: readonly AnsweredLayer[]): Observer {
  const newCounts = (): BucketCounts => new BucketCounts(SECONDS_BUCKETS)
  const byLayer = new Map(layers.map((layer) => [layer, newCounts()]))
  keptHistogram(
    registers,
    {
      name: 'sluice_decision_duration_seconds',
      help: 'Time from a question to its answer, without the network; layer is edge for proxies, service for applications that ask a service, app for middleware',
      rows: () => [...byLayer].map(([layer, counts]) => [{ layer }, counts] as const),
    },
    SECONDS_BUCKETS,
  )
  return observerOf(['answered'], (event) => {
    if (event.type !== 'answered') return
    const counts = byLayer.get(event.layer) ?? newCounts()
    byLayer.set(event.layer, counts)
    counts.add(event.ms / 1_000)
  })
}
