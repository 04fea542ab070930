import { wholeNumber } from '@sluice/limiter/algorithms'
import { WIRE_BOUNDS, type WireBounds } from '@sluice/limiter/wire'

/** What one client may ask of the service. */
export interface Bounds extends WireBounds {
  /** Bytes of a body. Default 262,144. */
  readonly maxBodyBytes: number
  /** Bytes of a batch's body. Default 4,194,304. */
  readonly maxBatchBytes: number
  /**
   * Bytes of bodies being read or decided and of answers not sent yet, over all connections of a listener; batches get
   * half of it. At least twice `maxBatchBytes`. Default 33,554,432.
   */
  readonly maxBytesInFlight: number
  /**
   * Milliseconds in which a request must have arrived whole, and for which the answer to a batch may be left unread.
   * Default 10,000.
   */
  readonly requestTimeoutMs: number
  /** Milliseconds for which a connection may be silent. Default 60,000. */
  readonly idleTimeoutMs: number
  /** Connections at once, of either listener; others are dropped. Default 10,000. */
  readonly maxConnections: number
}

const DEFAULTS: Bounds = {
  ...WIRE_BOUNDS,
  maxBodyBytes: 256 * 1_024,
  maxBatchBytes: 4 * 1_024 * 1_024,
  maxBytesInFlight: 32 * 1_024 * 1_024,
  requestTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  maxConnections: 10_000,
}

/** @throws ConfigError for bytes in flight that no batch fits into */
export function boundsOf(given: Partial<Bounds> = {}): Bounds {
  const set = Object.entries(given).filter(([, bound]) => bound !== undefined)
  const bounds: Bounds = { ...DEFAULTS, ...Object.fromEntries(set) }
  const { maxBatchBytes, maxBodyBytes, maxBytesInFlight } = bounds
  wholeNumber('maxBytesInFlight', maxBytesInFlight, 2 * Math.max(maxBatchBytes, maxBodyBytes))
  return bounds
}
