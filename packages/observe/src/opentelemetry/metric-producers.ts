import type { Attributes, HrTime, ValueType } from '@opentelemetry/api'
import type {
  AggregationTemporality,
  CollectionResult,
  DataPointType,
  Histogram,
  MetricData,
  MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Registry } from 'prom-client'
import { BucketCounts } from '../metrics/bucket-counts.ts'
import { type MetricName, metricNameOf } from './metric-names.ts'

/** Values of OpenTelemetry's enums, so that nothing of it is loaded here. */
const CUMULATIVE = 1 satisfies AggregationTemporality.CUMULATIVE
const DOUBLE = 1 satisfies ValueType.DOUBLE
const HISTOGRAM = 0 satisfies DataPointType.HISTOGRAM
const GAUGE = 2 satisfies DataPointType.GAUGE
const SUM = 3 satisfies DataPointType.SUM

/** A metric as prom-client gives it. */
interface GivenMetric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly values: readonly GivenValue[]
}
interface GivenValue {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

/**
 * All of a registry of prom-client for a reader of OpenTelemetry: the same figures, read when they are exported, under
 * names of its conventions. Counts are cumulative, from when this was made.
 * @example
 * new PeriodicExportingMetricReader({ exporter, metricProducers: [registryMetrics(registry)] })
 */
export function registryMetrics(registry: Registry): MetricProducer {
  const began = hrNow()
  return producerOf(async () => {
    const given = (await registry.getMetricsAsJSON()) as unknown as GivenMetric[]
    const made = given.flatMap((metric) => {
      const name = metricNameOf(metric.name, metric.type === 'counter')
      return name === undefined ? [] : [metricOf(metric, name, began, hrNow())]
    })
    return joined(made)
  })
}

/** Durations by attributes, counted in buckets. */
export interface Durations {
  /** @param attributes of a few values each; equal ones must be one object */
  add(attributes: Attributes, seconds: number): void
  readonly producer: MetricProducer
}

/**
 * A histogram of seconds that is counted here: the SDK would find the series anew for each value.
 * @param bounds of the buckets, ascending
 * @example
 * const durations = durationMetrics('http.server.request.duration', 'Duration of HTTP server requests.', [0.01, 0.1, 1])
 * durations.add(GET_USERS, 0.023)
 */
export function durationMetrics(name: string, description: string, bounds: readonly number[]): Durations {
  const began = hrNow()
  const counts = new Map<Attributes, BucketCounts>()
  return {
    add(attributes, seconds) {
      const kept = counts.get(attributes) ?? new BucketCounts(bounds)
      counts.set(attributes, kept)
      kept.add(seconds)
    },
    producer: producerOf(async () => {
      const now = hrNow()
      const dataPoints = [...counts].map(([attributes, { counts, sum, count }]) => ({
        startTime: began,
        endTime: now,
        attributes,
        value: { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count },
      }))
      if (dataPoints.length === 0) return []
      const descriptor = { name, description, unit: 's', valueType: DOUBLE }
      return [{ descriptor, aggregationTemporality: CUMULATIVE, dataPointType: HISTOGRAM, dataPoints }]
    }),
  }
}

/** The resource is the reader's own. */
function producerOf(metrics: () => Promise<MetricData[]>): MetricProducer {
  return {
    async collect() {
      const scopeMetrics = [{ scope: { name: '@sluice/observe' }, metrics: await metrics() }]
      return { resourceMetrics: { scopeMetrics }, errors: [] } as unknown as CollectionResult
    },
  }
}

function metricOf(metric: GivenMetric, name: MetricName, startTime: HrTime, endTime: HrTime): MetricData {
  const descriptor = { name: name.name, description: metric.help, unit: name.unit, valueType: DOUBLE }
  const kept = { descriptor, aggregationTemporality: CUMULATIVE }
  const times = { startTime, endTime }
  const attributesOf = ({ labels }: GivenValue): Attributes =>
    Object.fromEntries([
      ...Object.entries(name.attributes ?? {}),
      ...Object.entries(labels).flatMap(([label, value]) =>
        label === 'le' ? [] : [[name.attributeOf(label), value]],
      ),
    ])
  if (metric.type === 'histogram') {
    const dataPoints = histogramsOf(metric).map(([first, value]) => ({
      ...times,
      attributes: attributesOf(first),
      value,
    }))
    return { ...kept, dataPointType: HISTOGRAM, dataPoints }
  }
  const dataPoints = metric.values.map((each) => ({
    ...times,
    attributes: attributesOf(each),
    value: each.value,
  }))
  if (metric.type === 'counter') return { ...kept, dataPointType: SUM, isMonotonic: true, dataPoints }
  return { ...kept, dataPointType: GAUGE, dataPoints }
}

/** Buckets that Prometheus adds up, one by one: a series ends with its count. */
function histogramsOf({ name, values }: GivenMetric): (readonly [GivenValue, Histogram])[] {
  const made: (readonly [GivenValue, Histogram])[] = []
  let boundaries: number[] = []
  let below: number[] = []
  let sum = 0
  for (const each of values) {
    if (each.metricName === `${name}_sum`) sum = each.value
    else if (each.metricName === `${name}_count`) {
      const counts = below.map((count, i) => count - (below[i - 1] ?? 0))
      made.push([each, { buckets: { boundaries, counts }, sum, count: each.value }])
      boundaries = []
      below = []
    } else {
      below.push(each.value)
      if (Number.isFinite(Number(each.labels.le))) boundaries.push(Number(each.labels.le))
    }
  }
  return made
}

/** Of metrics with one name, such as two kinds of CPU time, one with the data points of all. */
function joined(metrics: readonly MetricData[]): MetricData[] {
  const byName = new Map<string, MetricData>()
  for (const metric of metrics) {
    const same = byName.get(metric.descriptor.name)
    if (same === undefined) byName.set(metric.descriptor.name, metric)
    else (same.dataPoints as unknown[]).push(...metric.dataPoints)
  }
  return [...byName.values()]
}

function hrNow(): HrTime {
  const ms = Date.now()
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000]
}
