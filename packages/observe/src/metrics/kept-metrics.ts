import { Counter, Gauge, type Histogram, type Registry } from 'prom-client'
import type { BucketCounts } from './bucket-counts.ts'

/** Labels and value of one series. */
export type KeptRow<Label extends string, Value = number> = readonly [Record<Label, string>, Value]

/** A metric, and where its values are. */
export interface Kept<Label extends string, Value> {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly Label[]
  /** Is asked when the metric is scraped. */
  readonly rows: () => Iterable<KeptRow<Label, Value>>
}

/**
 * A counter whose values are kept elsewhere, as plain integers, and read when it is scraped.
 * @example
 * keptCounter([registry], { name: 'lines_total', help: 'Lines', rows: () => [[{}, lines]] })
 */
export function keptCounter<Label extends string = never>(
  registers: Registry[],
  { name, help, labelNames = [], rows }: Kept<Label, number>,
): void {
  new Counter<Label>({
    name,
    help,
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const [labels, value] of rows()) this.inc(labels, value)
    },
  })
}

/**
 * The same for a gauge.
 * @example
 * keptGauge([registry], { name: 'keys', help: 'Keys held', rows: () => [[{}, store.size]] })
 */
export function keptGauge<Label extends string = never>(
  registers: Registry[],
  { name, help, labelNames = [], rows }: Kept<Label, number>,
): void {
  new Gauge<Label>({
    name,
    help,
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const [labels, value] of rows()) this.set(labels, value)
    },
  })
}

/**
 * The same for a histogram, which prom-client only fills value by value. The registry asks a metric for no more than
 * its name, and `get` for its samples.
 * @param bounds of the buckets, ascending
 * @example
 * keptHistogram([registry], { name: 'seconds', help: 'Times', rows: () => [[{}, counts]] }, [0.1, 1])
 */
export function keptHistogram<Label extends string>(
  registers: Registry[],
  { name, help, rows }: Kept<Label, BucketCounts>,
  bounds: readonly number[],
): void {
  const get = async (): Promise<object> => {
    const values: object[] = []
    for (const [labels, kept] of rows()) {
      let below = 0
      for (const [i, count] of kept.counts.entries()) {
        below += count
        const le = bounds[i] ?? '+Inf'
        values.push({ labels: { ...labels, le }, value: below, metricName: `${name}_bucket` })
      }
      values.push({ labels, value: kept.sum, metricName: `${name}_sum` })
      values.push({ labels, value: kept.count, metricName: `${name}_count` })
    }
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  }
  for (const registry of registers)
    registry.registerMetric({ name, get, reset: () => undefined } as unknown as Histogram)
}
