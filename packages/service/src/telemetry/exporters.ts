import type { ExportResult } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'

/** Is called with every failure to send. */
export type OnFailure = (error: Error | undefined) => void

type Done = (result: ExportResult) => void

/** Where the variables say, by OTLP over HTTP. */
export function spanExporter(failed: OnFailure): SpanExporter {
  return reporting(new OTLPTraceExporter(), failed)
}

export function metricExporter(failed: OnFailure): PushMetricExporter {
  return reporting(new OTLPMetricExporter(), failed)
}

/** The SDK reports failures to a logger of the whole process, which belongs to the application. */
function reporting<E extends { export(items: never, done: Done): void }>(exporter: E, failed: OnFailure): E {
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) failed(result.error)
      done(result)
    })
  return exporter
}
