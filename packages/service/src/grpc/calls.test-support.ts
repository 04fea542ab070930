import {
  type ChannelCredentials,
  type Client,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js'
import type { ServiceOptions } from '../service-options.ts'
import { bench, type ServiceBench } from '../testing.ts'
import { definitions, serviceOf } from './definitions.ts'

/** A request as tests write it: `entries` are pairs. */
interface Asked {
  readonly domain?: string
  readonly descriptors?: readonly object[]
  readonly hits_addend?: number
}

/** An answer with every field, and enums by name. */
export interface Answered {
  readonly overall_code: string
  readonly statuses: readonly {
    readonly code: string
    readonly current_limit: {
      readonly name: string
      readonly requests_per_unit: number
      readonly unit: string
      readonly unit_multiplier: { readonly value: number } | null
    } | null
    readonly limit_remaining: number
    readonly duration_until_reset: { readonly seconds: number; readonly nanos: number } | null
  }[]
  readonly response_headers_to_add: readonly { readonly key: string; readonly value: string }[]
  readonly request_headers_to_add: readonly { readonly key: string; readonly value: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: a Struct of any shape
  readonly dynamic_metadata: any
}

const RLS = 'envoy.service.ratelimit.v3.RateLimitService'

/** A client of any service that the server has. */
export interface Caller {
  readonly client: Client
  shouldRateLimit(
    request: Asked,
    metadata?: Readonly<Record<string, string>>,
    deadlineMs?: number,
  ): Promise<Answered>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  call(service: string, method: string, request: object): Promise<any>
  close(): void
}

/** @param address `HOST:PORT` or `unix:PATH` */
export function callerOf(
  address: string,
  secured: ChannelCredentials = credentials.createInsecure(),
): Caller {
  const all = definitions({ enums: String, defaults: true })
  const Anything = makeGenericClientConstructor({}, 'anything')
  const client = new Anything(address, secured)
  const call = <T>(
    service: string,
    method: string,
    request: object,
    headers = {},
    deadlineMs?: number,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = serviceOf(all, service)[method]!
      const metadata = Metadata.fromHttp2Headers(headers)
      const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        options,
        (error: ServiceError | null, answer) => (error ? reject(error) : resolve(answer as T)),
      )
    })
  return {
    client,
    shouldRateLimit: (request, metadata, deadlineMs) =>
      call<Answered>(RLS, 'ShouldRateLimit', request, metadata, deadlineMs),
    call: (service, method, request) => call(service, method, request),
    close: () => client.close(),
  }
}

/** A service over gRPC on the loopback interface; its clock only moves when a test sets it. */
export interface GrpcBench extends ServiceBench, Pick<Caller, 'shouldRateLimit' | 'call'> {
  readonly address: string
}

export async function grpcBench(
  rulebook: string,
  options: Omit<Partial<ServiceOptions>, 'rules'> = {},
): Promise<GrpcBench> {
  const service = await bench(rulebook, { grpc: '127.0.0.1:0', ...options })
  const grpc = await service.grpc!()
  const address = await grpc.listen({ host: '127.0.0.1', port: 0 })
  const { shouldRateLimit, call, close } = callerOf(address)
  return {
    ...service,
    address,
    shouldRateLimit,
    call,
    async close() {
      close()
      await grpc.drain(0)
      await service.close()
    },
  }
}

/** A descriptor of pairs: `entries('user', 'ada', 'path', '/')`. */
export function entries(...pairs: readonly string[]): {
  readonly entries: readonly { readonly key: string; readonly value: string }[]
} {
  return {
    entries: Array.from({ length: pairs.length / 2 }, (_, i) => ({
      key: pairs[2 * i]!,
      value: pairs[2 * i + 1]!,
    })),
  }
}
