import { statSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { ConfigError } from '@sluice/limiter/errors'
import { startTimer } from '@sluice/limiter/time'
import type { GrpcAddress } from '../address.ts'
import type { Readiness } from '../admin/health.ts'
import type { Log } from '../app.ts'
import type { AuthorizationCheck } from '../auth/ext-authz.ts'
import type { Assignments } from '../rlqs/assignments.ts'
import type { QuotaCall } from '../rlqs/stream.ts'
import { withinMsOf } from '../rls/deadline.ts'
import type { ShouldRateLimit } from '../rls/handler.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { hasClientName, type TlsFiles } from '../tls-files.ts'
import { fileCredentials } from './certificates.ts'
import { definitions, serviceOf } from './definitions.ts'
import { failureOf } from './failure.ts'
import { healthService } from './health.ts'
import { reflection } from './reflection.ts'

export interface GrpcParts {
  readonly shouldRateLimit: ShouldRateLimit
  readonly assignments: Assignments
  readonly authorizationCheck: AuthorizationCheck
  readonly readiness: Readiness
  readonly telemetry?: Telemetry | undefined
  readonly log: Log
  /** Milliseconds for a decision, where the caller does not say how long it waits. */
  readonly deadlineMs: number
  readonly tls?: TlsFiles | undefined
  /** Milliseconds after which a connection is ended, and for which its calls may then go on. Default: never. */
  readonly maxConnectionAgeMs?: number | undefined
  readonly maxConnectionAgeGraceMs?: number | undefined
}

/** A server of gRPC. */
export interface GrpcServer {
  /** @returns where it listens, as `HOST:PORT` or `unix:PATH` */
  listen(address: GrpcAddress): Promise<string>
  /** Takes no more calls, and answers what is in flight for so many milliseconds. */
  drain(ms: number): Promise<void>
}

/** Bytes of a message: more than Envoy's headers come to, in a request of many descriptors. */
const MOST_BYTES = 1_048_576
/** Calls at once of one connection: Envoy opens another one then. */
const MOST_CALLS = 1_000
const PING_EVERY = 60_000

const RLS = 'envoy.service.ratelimit.v3.RateLimitService'
const RLQS = 'envoy.service.rate_limit_quota.v3.RateLimitQuotaService'
const AUTHORIZATION = 'envoy.service.auth.v3.Authorization'
const HEALTH = 'grpc.health.v1.Health'
const REFLECTIONS = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

/** @throws ConfigError for files of TLS that cannot be used */
export function grpcServer(parts: GrpcParts): GrpcServer {
  const { log, tls } = parts
  const server = new Server({
    'grpc.max_receive_message_length': MOST_BYTES,
    'grpc.max_concurrent_streams': MOST_CALLS,
    'grpc.keepalive_time_ms': PING_EVERY,
    'grpc.enable_channelz': 0,
    ...(parts.maxConnectionAgeMs !== undefined && { 'grpc.max_connection_age_ms': parts.maxConnectionAgeMs }),
    ...(parts.maxConnectionAgeGraceMs !== undefined && {
      'grpc.max_connection_age_grace_ms': parts.maxConnectionAgeGraceMs,
    }),
  })
  const all = definitions()
  const add = (name: string, implementation: UntypedServiceImplementation): void =>
    server.addService(serviceOf(all, name), implementation)
  add(RLS, { ShouldRateLimit: boundedCall(parts, `${RLS}/ShouldRateLimit`, parts.shouldRateLimit) })
  add(AUTHORIZATION, { Check: boundedCall(parts, `${AUTHORIZATION}/Check`, parts.authorizationCheck) })
  add(RLQS, { StreamRateLimitQuotas: quotaStream(parts) })
  add(HEALTH, healthService(parts.readiness))
  const named = [RLS, AUTHORIZATION, RLQS, HEALTH, ...REFLECTIONS]
  for (const name of REFLECTIONS) add(name, { ServerReflectionInfo: reflection(named) })
  const secured = tls === undefined ? undefined : fileCredentials(tls, log)
  return {
    async listen(address) {
      if ('path' in address) await freePath(address.path)
      const at = 'path' in address ? `unix:${address.path}` : `${bracketed(address.host)}:${address.port}`
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync(at, secured?.credentials ?? ServerCredentials.createInsecure(), (error, bound) =>
          error ? reject(unreachable(at, error)) : resolve(bound),
        )
      })
      const url = 'path' in address ? at : `${bracketed(address.host)}:${port}`
      parts.assignments.start()
      log.info(`grpc listens at ${url}`)
      return url
    },
    async drain(ms) {
      secured?.close()
      parts.assignments.stop()
      await new Promise<void>((resolve) => {
        const stop = startTimer(() => {
          server.forceShutdown()
          resolve()
        }, ms)
        server.tryShutdown(() => {
          stop()
          resolve()
        })
      })
    },
  }
}

/** A call that is answered in the time for which its caller waits. */
function boundedCall<Request, Response>(
  { deadlineMs, tls, log, telemetry }: GrpcParts,
  method: string,
  decide: (request: Request, withinMs: number) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, answer) => {
    const refusal = refusedName(call, tls?.clientName)
    if (refusal !== undefined) {
      answer({ code: status.UNAUTHENTICATED, details: refusal })
      return
    }
    const within = withinMsOf(call.getDeadline(), call.metadata, deadlineMs, Date.now())
    const asked = (): Promise<Response> => decide(call.request, within)
    const answered = telemetry === undefined ? asked() : telemetry.watchCall(method, call.metadata, asked)
    answered.then(
      (response) => answer(null, response),
      (error) => {
        const failure = failureOf(error)
        if (failure.code === status.INTERNAL) log.error({ err: error }, 'a call failed')
        answer(failure)
      },
    )
  }
}

function quotaStream({ assignments, tls }: GrpcParts): (call: QuotaCall) => void {
  return (call) => {
    const refusal = refusedName(call, tls?.clientName)
    if (refusal === undefined) assignments.serve(call)
    else call.emit('error', { code: status.UNAUTHENTICATED, details: refusal })
  }
}

function refusedName(
  call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>,
  wanted: string | undefined,
): string | undefined {
  return wanted === undefined ||
    hasClientName(call.getAuthContext().sslPeerCertificate?.subjectaltname, wanted)
    ? undefined
    : 'the certificate does not have the name that this service asks for'
}

function unreachable(at: string, cause: Error): ConfigError {
  const why = /EADDRINUSE|No address added/.test(cause.message)
    ? 'another program listens there'
    : cause.message
  return new ConfigError(`grpc: cannot listen at ${at}: ${why}; choose another address`, {
    cause,
    path: ['grpc'],
  })
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** A socket that a process left behind when it was killed would keep the address. */
async function freePath(path: string): Promise<void> {
  try {
    if (!statSync(path).isSocket()) return
  } catch {
    return
  }
  const isUsed = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
  if (!isUsed) unlinkSync(path)
}
