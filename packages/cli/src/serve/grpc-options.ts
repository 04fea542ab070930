import { ticksOf } from '@sluice/limiter/time'
import type { ServiceOptions } from '@sluice/service'
import { UsageError } from '../usage-error.ts'

/** What was given for gRPC. */
export interface GrpcValues {
  readonly grpc?: string | undefined
  readonly 'grpc-deadline'?: string | undefined
  readonly 'grpc-cert'?: string | undefined
  readonly 'grpc-key'?: string | undefined
  readonly 'grpc-client-ca'?: string | undefined
  readonly 'grpc-client-name'?: string | undefined
}

/** Milliseconds that Envoy waits by default, before it lets a request pass; and those that the way back may take. */
const ENVOY_WAITS_MS = 20
const WAY_BACK_MS = 5
/** Milliseconds that a shared store has to answer. */
export const STORE_DEADLINE_MS = 50

/**
 * The service's options for gRPC.
 * @param warn is told of a deadline that does not fit the caller's or the store's
 * @throws UsageError for options that do not go together
 */
export function grpcOptions(
  values: GrpcValues,
  warn: (message: string) => void,
): Pick<ServiceOptions, 'grpc' | 'grpcTls' | 'rls'> {
  const { grpc, 'grpc-deadline': deadline, 'grpc-cert': cert, 'grpc-key': key } = values
  const { 'grpc-client-ca': clientCa, 'grpc-client-name': clientName } = values
  if (grpc === undefined) {
    const without = Object.entries(values).find(
      ([name, value]) => name.startsWith('grpc-') && value !== undefined,
    )
    if (without !== undefined) throw new UsageError(`--${without[0]} has no effect without --grpc`)
    return {}
  }
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('--grpc-cert and --grpc-key go together')
  if (clientCa !== undefined && cert === undefined)
    throw new UsageError('--grpc-client-ca needs --grpc-cert and --grpc-key')
  if (clientName !== undefined && clientCa === undefined)
    throw new UsageError('--grpc-client-name needs --grpc-client-ca')
  return {
    grpc,
    ...(deadline !== undefined && { rls: { deadlineMs: deadlineOf(deadline, warn) } }),
    ...(cert !== undefined &&
      key !== undefined && {
        grpcTls: {
          cert,
          key,
          ...(clientCa !== undefined && { clientCa }),
          ...(clientName !== undefined && { clientName }),
        },
      }),
  }
}

function deadlineOf(text: string, warn: (message: string) => void): number {
  let ms: number
  try {
    ms = ticksOf(text) / 1_000
  } catch {
    throw new UsageError(`--grpc-deadline ${JSON.stringify(text)} is not a time: write 15ms, or 1s`)
  }
  if (ms > STORE_DEADLINE_MS)
    warn(
      `--grpc-deadline ${text} has no effect: a store that does not answer within ${STORE_DEADLINE_MS} ms is not waited for`,
    )
  else if (ms > ENVOY_WAITS_MS - WAY_BACK_MS)
    warn(
      `--grpc-deadline ${text} is too long for Envoy, which waits ${ENVOY_WAITS_MS} ms by default and then lets pass: give its filter a longer timeout`,
    )
  return ms
}
