import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Readiness } from '../admin/health.ts'

interface HealthRequest {
  readonly service?: string
}
interface HealthResponse {
  readonly status: number
}

const SERVING = 1
const NOT_SERVING = 2
const SERVICE_UNKNOWN = 3

/** Names that health is asked for by: the server as a whole, its services, and the name at envoyproxy/ratelimit. */
const KNOWN: readonly string[] = [
  '',
  'envoy.service.ratelimit.v3.RateLimitService',
  'ratelimit',
  'envoy.service.auth.v3.Authorization',
]
const WATCHES_EVERY = 1_000
/** Watches at once: each asks by itself. */
const MOST_WATCHES = 100

/** `grpc.health.v1.Health`: serving as long as the service should be sent requests, as `/readyz` says. */
export function healthService(readiness: Readiness): UntypedServiceImplementation {
  let watches = 0
  const now = async (): Promise<HealthResponse> => {
    const { reasons } = await readiness()
    return { status: reasons.length === 0 ? SERVING : NOT_SERVING }
  }
  const Check: handleUnaryCall<HealthRequest, HealthResponse> = ({ request: { service = '' } }, answer) => {
    if (!KNOWN.includes(service)) {
      answer({
        code: status.NOT_FOUND,
        details: `no service has that name; there are ${KNOWN.slice(1).join(', ')}`,
      })
      return
    }
    now().then(
      (found) => answer(null, found),
      () => answer(null, { status: NOT_SERVING }),
    )
  }
  const Watch: handleServerStreamingCall<HealthRequest, HealthResponse> = (call) => {
    if (!KNOWN.includes(call.request.service ?? '')) {
      call.write({ status: SERVICE_UNKNOWN })
      return
    }
    if (watches >= MOST_WATCHES) {
      call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: `${MOST_WATCHES} watches are the most` })
      return
    }
    watches++
    let last: number | undefined
    const tell = async (): Promise<void> => {
      const found = await now().catch(() => ({ status: NOT_SERVING }))
      if (found.status !== last && !call.cancelled) call.write(found)
      last = found.status
    }
    void tell()
    const timer = setInterval(() => void tell(), WATCHES_EVERY)
    timer.unref()
    let ended = false
    const end = (): void => {
      if (ended) return
      ended = true
      watches--
      clearInterval(timer)
    }
    call.on('cancelled', end)
    call.on('close', end)
  }
  return { Check, Watch }
}
