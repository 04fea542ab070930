import { randomUUID } from 'node:crypto'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { observerOf } from '@sluice/limiter/events'
import { startTimer } from '@sluice/limiter/time'
import { durationMetrics, registryMetrics } from '@sluice/observe/opentelemetry'
import { versionOf } from '../version.ts'
import { otelEnvironment } from './environment.ts'
import { metricExporter, type OnFailure, spanExporter } from './exporters.ts'
import { failureLog } from './failure-log.ts'
import { watchGrpcCalls } from './grpc-calls.ts'
import { watchHttpRequests } from './http-requests.ts'
import { RequestSpans, within } from './request-spans.ts'
import { RequestSampler } from './sampler.ts'
import type { Telemetry } from './telemetry.ts'

/** Seconds, as OpenTelemetry's conventions for HTTP and RPC have them, and below a millisecond, where answers are. */
const BOUNDS = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5,
  5, 7.5, 10,
]
/** Milliseconds for what is left when the service stops. */
const LAST_MS = 2_000

/**
 * Spans and metrics by OpenTelemetry, for one service: sent as the standard `OTEL_*` variables of the process say, by
 * OTLP over HTTP. Nothing of the process is changed: no global provider, no patched module.
 * @throws ConfigError for variables with a value that cannot be followed
 * @example
 * const service = createService({ rules: ['rules/'], telemetry: openTelemetry() })
 */
export function openTelemetry(): Telemetry {
  const { traces, metrics, sampling, propagates, intervalMs, timeoutMs } = otelEnvironment()
  const sampler = new RequestSampler(sampling)
  const resource = resourceOf()
  let failed: OnFailure = () => undefined
  const onFailure: OnFailure = (error) => failed(error)
  const tracers = traces
    ? new BasicTracerProvider({
        resource,
        sampler: sampler.sampler,
        spanProcessors: [new BatchSpanProcessor(spanExporter(onFailure))],
      })
    : undefined
  const spans =
    tracers && new RequestSpans(tracers.getTracer('@sluice/service', versionOf()), sampler, propagates)
  const requests = durationMetrics(
    'http.server.request.duration',
    'Duration of HTTP server requests.',
    BOUNDS,
  )
  const calls = durationMetrics('rpc.server.call.duration', 'Duration of inbound RPCs.', BOUNDS)
  let meters: MeterProvider | undefined
  return {
    observe: spans?.observe ?? observerOf([], () => undefined),
    watchHttp: (app) => watchHttpRequests(app, requests, spans),
    watchCall: watchGrpcCalls(calls, spans),
    watchDecisions: (store) => spans?.watchDecisions(store) ?? store,
    watchStore: (store) => spans?.watchStore(store) ?? store,
    carry: () => spans?.carry() ?? within,
    start(registry, log) {
      failed = failureLog(log)
      if (!metrics) return
      const reader = new PeriodicExportingMetricReader({
        exporter: metricExporter(onFailure),
        exportIntervalMillis: intervalMs,
        exportTimeoutMillis: timeoutMs,
        metricProducers: [registryMetrics(registry), requests.producer, calls.producer],
      })
      meters = new MeterProvider({ resource, readers: [reader] })
    },
    stop: () => endedIn(LAST_MS, [tracers?.shutdown(), meters?.shutdown()]),
  }
}

/** What the variables say comes before our own names. */
function resourceOf(): Resource {
  const own = {
    'service.name': 'sluice',
    'service.version': versionOf(),
    'service.instance.id': randomUUID(),
  }
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }))
}

/** A collector that does not answer must not keep the process. */
async function endedIn(ms: number, all: readonly (Promise<void> | undefined)[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = startTimer(resolve, ms)
    void Promise.allSettled(all).then(() => {
      stop()
      resolve()
    })
  })
}
