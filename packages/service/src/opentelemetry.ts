/** Spans and metrics by OpenTelemetry. Apart, so that its SDK is loaded only where it is wanted. */
export { openTelemetry } from './telemetry/open-telemetry.ts'
export type { Telemetry } from './telemetry/telemetry.ts'
