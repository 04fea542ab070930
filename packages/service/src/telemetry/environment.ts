import { getNumberFromEnv, getStringFromEnv, getStringListFromEnv } from '@opentelemetry/core'
import { ConfigError } from '@sluice/limiter/errors'

/** What the standard variables say that the SDK leaves to its user. */
export interface OtelEnvironment {
  readonly traces: boolean
  readonly metrics: boolean
  /** Whether spans continue the traces of callers. */
  readonly propagates: boolean
  /** Milliseconds between two exports of metrics, and for one of them. */
  readonly intervalMs: number
  readonly timeoutMs: number
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
]
const PROTOCOLS = ['TRACES_', 'METRICS_', ''].map((signal) => `OTEL_EXPORTER_OTLP_${signal}PROTOCOL`)

/**
 * Reads the variables of the process. Endpoints, headers, batches and resources are read by the SDK itself.
 * @throws ConfigError for a value that the SDK would pass over
 */
export function otelEnvironment(): OtelEnvironment {
  for (const name of PROTOCOLS) oneOfValues(name, ['http/protobuf'])
  oneOfValues('OTEL_TRACES_SAMPLER', SAMPLERS)
  const ratio = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG')
  if (ratio !== undefined && !(ratio >= 0 && ratio <= 1))
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, not ${ratio}`)
  const off = getStringFromEnv('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  const exports = (signal: string): boolean =>
    !off && oneOfValues(`OTEL_${signal}_EXPORTER`, ['otlp', 'none']) !== 'none'
  const intervalMs = positive('OTEL_METRIC_EXPORT_INTERVAL', 60_000)
  return {
    traces: exports('TRACES'),
    metrics: exports('METRICS'),
    propagates: getStringListFromEnv('OTEL_PROPAGATORS')?.includes('tracecontext') ?? true,
    intervalMs,
    timeoutMs: Math.min(intervalMs, positive('OTEL_METRIC_EXPORT_TIMEOUT', 30_000)),
  }
}

function oneOfValues(name: string, values: readonly string[]): string | undefined {
  const value = getStringFromEnv(name)
  if (value !== undefined && !values.includes(value))
    throw new ConfigError(`${name} must be ${values.join(' or ')}, not ${JSON.stringify(value)}`)
  return value
}

function positive(name: string, otherwise: number): number {
  const value = getNumberFromEnv(name) ?? otherwise
  if (value > 0) return value
  throw new ConfigError(`${name} must be milliseconds above 0, not ${value}`)
}
