import type { ServeSettings } from './option-row.ts'

/** Milliseconds that Envoy waits by default, before it lets a request pass; and those that the way back may take. */
const ENVOY_WAITS_MS = 20
const WAY_BACK_MS = 5
const STORE_DEADLINE_MS = 50

/** What does not fit between the time for a call of gRPC, the time for the store, and Envoy's. */
export function deadlineWarning({
  grpc,
  rls,
  fallback,
}: Pick<ServeSettings, 'grpc' | 'rls' | 'fallback'>): string | undefined {
  const within = rls?.deadlineMs
  if (grpc === undefined || within === undefined) return undefined
  const { deadlineMs: store = STORE_DEADLINE_MS } = fallback ?? {}
  if (within > ENVOY_WAITS_MS - WAY_BACK_MS)
    return `a grpc-deadline of ${within} ms is too long for Envoy, which waits ${ENVOY_WAITS_MS} ms by default and then lets pass: give the timeout of its rate limit filter at least ${within + WAY_BACK_MS} ms`
  if (store < within)
    return `a grpc-deadline of ${within} ms has no effect: a store that does not answer within ${store} ms, its store-deadline, is not waited for`
  return undefined
}
