/** Methods that may be sent again: safe ones, and those that have the same effect when repeated (RFC 9110 §9.2.2). */
export const REPEATABLE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']

/** draft-ietf-httpapi-idempotency-key-header. */
const IDEMPOTENCY_KEY = 'Idempotency-Key'

/** What is asked for, as `fetch` takes it. */
export interface FetchCall {
  readonly input: string | URL | Request
  readonly init: RequestInit | undefined
}

/** What decides whether a call may be sent again. */
export interface RepeatableOptions {
  readonly methods: readonly string[]
  /** Makes the idempotency key of a call that has none; absent: none is made. */
  readonly makeKey: (() => string) | undefined
}

/** A call, and whether it may be sent again; with the idempotency key that it may have got. */
export interface RepeatableCall extends FetchCall {
  readonly repeatable: boolean
}

/**
 * A call may be sent again if its method may, or it has an idempotency key, which every try then has; and if its body can
 * be sent again, which a stream cannot. A key of the caller's stays.
 */
export function repeatableCall(call: FetchCall, { methods, makeKey }: RepeatableOptions): RepeatableCall {
  if (!hasRepeatableBody(call)) return { ...call, repeatable: false }
  if (methods.includes(methodOf(call))) return { ...call, repeatable: true }
  const { input, init } = call
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined))
  if (headers.has(IDEMPOTENCY_KEY)) return { ...call, repeatable: true }
  if (makeKey === undefined) return { ...call, repeatable: false }
  headers.set(IDEMPOTENCY_KEY, makeKey())
  return { input, init: { ...init, headers }, repeatable: true }
}

/** A key as the draft has it: a String of structured fields, with 122 random bits. */
export function newIdempotencyKey(): string {
  return `"${crypto.randomUUID()}"`
}

export function isRequest(input: FetchCall['input']): input is Request {
  return typeof input === 'object' && 'method' in input
}

function methodOf({ input, init }: FetchCall): string {
  return (init?.method ?? (isRequest(input) ? input.method : 'GET')).toUpperCase()
}

/** Bodies that are values. A Request's body is always a stream. */
function hasRepeatableBody({ input, init }: FetchCall): boolean {
  const body: unknown = init?.body ?? undefined
  if (body === undefined) return !isRequest(input) || (input.body ?? null) === null
  return (
    typeof body === 'string' ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams ||
    body instanceof Blob ||
    body instanceof FormData
  )
}
