import { getNumberFromEnv, getStringFromEnv, getStringListFromEnv } from '@opentelemetry/core'
import { ConfigError } from '@sluice/limiter/errors'

/** Which requests are recorded. */
export interface Sampling {
  /** The share of requests that begin a trace. */
  readonly ratio: number
  /** Whether requests that continue a trace are recorded as their callers are. */
  readonly byParent: boolean
}

/** What the standard variables say that the SDK leaves to its user. */
export interface OtelEnvironment {
  readonly traces: boolean
  readonly metrics: boolean
  readonly sampling: Sampling
  /** Whether spans continue the traces of callers. */
  readonly propagates: boolean
  /** Milliseconds between two exports of metrics, and for one of them. */
  readonly intervalMs: number
  readonly timeoutMs: number
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])
const PROTOCOLS = ['TRACES_', 'METRICS_', ''].map((signal) => `OTEL_EXPORTER_OTLP_${signal}PROTOCOL`)

/**
 * Reads the variables of the process. Endpoints, headers, batches and resources are read by the SDK itself.
 * @throws ConfigError for a value that the SDK would pass over
 */
export function otelEnvironment(): OtelEnvironment {
  for (const name of PROTOCOLS) oneOfValues(name, ['http/protobuf'])
  const off = getStringFromEnv('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  const exports = (signal: string): boolean =>
    !off && oneOfValues(`OTEL_${signal}_EXPORTER`, ['otlp', 'none']) !== 'none'
  const intervalMs = positive('OTEL_METRIC_EXPORT_INTERVAL', 60_000)
  return {
    traces: exports('TRACES'),
    metrics: exports('METRICS'),
    sampling: samplingOf(),
    propagates: getStringListFromEnv('OTEL_PROPAGATORS')?.includes('tracecontext') ?? true,
    intervalMs,
    timeoutMs: Math.min(intervalMs, positive('OTEL_METRIC_EXPORT_TIMEOUT', 30_000)),
  }
}

function samplingOf(): Sampling {
  const sampler = oneOfValues('OTEL_TRACES_SAMPLER', SAMPLERS) ?? 'parentbased_always_on'
  const share = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1
  if (!(share >= 0 && share <= 1))
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, not ${share}`)
  const ratio = sampler.endsWith('ratio') ? share : sampler.endsWith('on') ? 1 : 0
  return { ratio, byParent: sampler.startsWith('parentbased') }
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
