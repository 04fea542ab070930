import { status as grpcStatus, type Metadata } from '@grpc/grpc-js'
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type TextMapPropagator,
} from '@opentelemetry/api'
import type { Durations } from '@sluice/observe/opentelemetry'
import { failureOf } from '../grpc/failure.ts'
import type { RequestSpans } from './request-span.ts'
import type { Telemetry } from './telemetry.ts'

const METADATA = {
  get: (metadata: Metadata, name: string) => metadata.get(name).map(String),
  keys: (metadata: Metadata) => Object.keys(metadata.getMap()),
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

/** Each call is a span, and its duration is counted. */
export function watchGrpcCalls(
  spans: RequestSpans | undefined,
  durations: Durations,
  propagator: TextMapPropagator | undefined,
): Telemetry['watchCall'] {
  const series = new Map<string, Attributes>()
  return async (method, metadata, answer) => {
    const began = performance.now()
    const part = spans?.start(
      method,
      { 'rpc.system.name': 'grpc', 'rpc.method': method },
      propagator?.extract(ROOT_CONTEXT, metadata, METADATA) ?? ROOT_CONTEXT,
    )
    let code = grpcStatus.OK
    try {
      return await (part === undefined ? answer() : spans!.within(part, answer))
    } catch (error) {
      code = failureOf(error).code
      throw error
    } finally {
      const attributes = series.get(`${method} ${code}`) ?? attributesOf(method, code)
      series.set(`${method} ${code}`, attributes)
      durations.add(attributes, (performance.now() - began) / 1_000)
      if (part !== undefined) end(part.span, code)
    }
  }
}

function attributesOf(method: string, code: number): Attributes {
  return {
    'rpc.system.name': 'grpc',
    'rpc.method': method,
    'rpc.response.status_code': grpcStatus[code]!,
    ...(FAULTS.includes(code) && { 'error.type': grpcStatus[code]! }),
  }
}

function end(span: Span, code: number): void {
  span.setAttribute('rpc.response.status_code', grpcStatus[code]!)
  if (FAULTS.includes(code)) {
    span.setAttribute('error.type', grpcStatus[code]!)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
