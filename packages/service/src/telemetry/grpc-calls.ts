import { status as grpcStatus, type Metadata } from '@grpc/grpc-js'
import type { Attributes, TextMapGetter } from '@opentelemetry/api'
import type { Durations } from '@sluice/observe/opentelemetry'
import { failureOf } from '../grpc/failure.ts'
import type { RequestSpans } from './request-spans.ts'
import type { Telemetry } from './telemetry.ts'

const METADATA: TextMapGetter<Metadata> = {
  get: (metadata, name) => metadata.get(name).map(String),
  keys: (metadata) => Object.keys(metadata.getMap()),
}

/** Codes that are the server's fault, as OpenTelemetry's conventions for gRPC say. */
const FAULTS: readonly number[] = [
  grpcStatus.UNKNOWN,
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.UNIMPLEMENTED,
  grpcStatus.INTERNAL,
  grpcStatus.UNAVAILABLE,
  grpcStatus.DATA_LOSS,
]

/** Counts the durations of calls; and makes them spans, where there are any. */
export function watchGrpcCalls(
  durations: Durations,
  spans: RequestSpans | undefined,
): Telemetry['watchCall'] {
  const series = new Map<string, Attributes>()
  return async (method, metadata, answer) => {
    const began = performance.now()
    const [traceparent] = spans === undefined ? [] : metadata.get('traceparent')
    const recorded = spans?.start({
      traceparent: traceparent?.toString(),
      carrier: metadata,
      getter: METADATA,
      named: () => [method, callOf(method), 0],
    })
    let code = grpcStatus.OK
    try {
      return await (recorded === undefined ? answer() : spans!.within(recorded, answer))
    } catch (error) {
      code = failureOf(error).code
      throw error
    } finally {
      const attributes = series.get(`${method} ${code}`) ?? { ...callOf(method), ...outcomeOf(code) }
      series.set(`${method} ${code}`, attributes)
      durations.add(attributes, (performance.now() - began) / 1_000)
      if (recorded !== undefined) spans!.end(recorded, outcomeOf(code), faultOf(code))
    }
  }
}

function callOf(method: string): Attributes {
  return { 'rpc.system.name': 'grpc', 'rpc.method': method }
}

function outcomeOf(code: number): Attributes {
  const fault = faultOf(code)
  return { 'rpc.response.status_code': grpcStatus[code]!, ...(fault && { 'error.type': fault }) }
}

function faultOf(code: number): string | undefined {
  return FAULTS.includes(code) ? grpcStatus[code] : undefined
}
