/** Errors before a connection stands: the other side cannot have counted the call. */
const BEFORE_CONNECTION = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']
/** Causes of causes that are looked at. */
const MOST_CAUSES = 5

/**
 * Whether a call failed before it can have reached anything: refused connections, names that do not resolve. A timeout
 * says nothing: the call may have been served.
 */
export function neverReached(error: unknown): boolean {
  let cause = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] } | undefined
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === 'object' && cause !== null; depth++) {
    if (BEFORE_CONNECTION.includes(cause.code as string)) return true
    // Where a name has several addresses, all of them failed.
    if (Array.isArray(cause.errors) && cause.errors.length > 0) return cause.errors.every(neverReached)
    cause = cause.cause as typeof cause
  }
  return false
}
