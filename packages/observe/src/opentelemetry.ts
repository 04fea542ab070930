/** Metrics and decisions for OpenTelemetry. It imports nothing of OpenTelemetry's: applications bring their own SDK. */
export { type DecisionAttributes, decisionAttributes } from './opentelemetry/decision-attributes.ts'
export { type Durations, durationMetrics, registryMetrics } from './opentelemetry/metric-producers.ts'
export { type ActiveSpans, spanEvents } from './opentelemetry/span-events.ts'
