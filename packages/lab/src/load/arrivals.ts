import type { SentRequest } from './request-template.ts'

/** One request that is to be sent. */
export interface Arrival {
  /** Milliseconds from the start, never less than that of the arrival before. */
  readonly at: number
  /** Chooses the key; absent: as the run chooses. */
  readonly key?: string
  /** Instead of the run's own. */
  readonly request?: SentRequest
}

/** When requests arrive, whatever becomes of those before: an open loop. Rates are requests a second, durations ms. */
export type LoadShape =
  | { readonly kind: 'constant'; readonly rate: number }
  /** From `from` to `rate`, evenly. */
  | { readonly kind: 'ramp'; readonly from: number; readonly rate: number }
  /** `size` at once every `everyMs`, over a constant rate. */
  | { readonly kind: 'burst'; readonly rate: number; readonly size: number; readonly everyMs: number }
  /** All clients come back together: `rate` times `everyMs` requests at once, and nothing between. */
  | { readonly kind: 'herd'; readonly rate: number; readonly everyMs: number }
  /** Independent clients: the gaps are exponential. */
  | { readonly kind: 'poisson'; readonly rate: number }

/**
 * The arrivals of a shape, in order.
 * @param random from 0 to below 1
 * @example
 * [...arrivalsOf({ kind: 'constant', rate: 4 }, 1_000, Math.random)].map(({ at }) => at) // [0, 250, 500, 750]
 */
export function* arrivalsOf(shape: LoadShape, durationMs: number, random: () => number): Generator<Arrival> {
  for (const at of instantsOf(shape, durationMs, random)) yield { at }
}

function instantsOf(shape: LoadShape, durationMs: number, random: () => number): Iterable<number> {
  switch (shape.kind) {
    case 'constant':
      return constant(shape.rate, durationMs)
    case 'ramp':
      return ramp(shape.from, shape.rate, durationMs)
    case 'burst':
      return bursts(shape.rate, shape.size, shape.everyMs, durationMs)
    case 'herd':
      return bursts(
        0,
        Math.max(1, Math.round((shape.rate * shape.everyMs) / 1_000)),
        shape.everyMs,
        durationMs,
      )
    case 'poisson':
      return poisson(shape.rate, durationMs, random)
  }
}

function* constant(rate: number, durationMs: number): Generator<number> {
  for (let i = 0; ; i++) {
    const at = (i * 1_000) / rate
    if (at >= durationMs) return
    yield at
  }
}

/** The i-th arrival is where the area under the rate reaches i: a quadratic equation. */
function* ramp(from: number, to: number, durationMs: number): Generator<number> {
  const [a, b, end] = [from / 1_000, to / 1_000, durationMs]
  const slope = (b - a) / end
  const total = ((a + b) / 2) * end
  for (let i = 0; i < total; i++)
    yield slope === 0 ? i / a : (Math.sqrt(Math.max(0, a * a + 2 * slope * i)) - a) / slope
}

function* bursts(rate: number, size: number, everyMs: number, durationMs: number): Generator<number> {
  const steady = rate > 0 ? constant(rate, durationMs) : [][Symbol.iterator]()
  let next = steady.next()
  for (let at = 0; at < durationMs; at += everyMs) {
    for (; next.done !== true && next.value <= at; next = steady.next()) yield next.value
    for (let i = 0; i < size; i++) yield at
  }
  for (; next.done !== true; next = steady.next()) yield next.value
}

function* poisson(rate: number, durationMs: number, random: () => number): Generator<number> {
  for (let at = 0; ; ) {
    at += (-Math.log(1 - random()) * 1_000) / rate
    if (at >= durationMs) return
    yield at
  }
}
