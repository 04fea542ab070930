import type { BucketId } from './bucket-id.ts'
import type { Demand } from './demand.ts'

/** What a proxy is told to do with a bucket. */
export type Assignment =
  | 'ALLOW_ALL'
  | 'DENY_ALL'
  | {
      /** Tokens that arrive in `seconds`. */
      readonly tokens: number
      readonly seconds: number
      /** Tokens that the full bucket holds. */
      readonly burst: number
    }

/** Parts of a quota. */
export interface BucketPart {
  readonly tokens: number
  readonly burst: number
}

export const NOTHING: BucketPart = { tokens: 0, burst: 0 }

/** What is sent to a proxy about one bucket: what it is assigned for how long, or that nothing is known of it any more. */
export interface Action {
  readonly bucket: BucketId
  readonly assignment: Assignment | 'abandon'
  readonly ttlMs: number
}

/** A proxy's stream, as far as assigning goes. */
export interface Stream {
  /** By which a proxy is known again on another stream; where it says none it is another proxy. */
  readonly proxy: string | undefined
  /** When the last of what was sent left: `now` while some of it still waits, −Infinity where nothing ever did. */
  readonly busyUntil: (now: number) => number
  readonly send: (actions: readonly Action[]) => void
}

/** One bucket of one stream. Instants and times are milliseconds. */
export interface Holder {
  readonly stream: Stream
  readonly name: string
  readonly bucket: BucketId
  readonly demand: Demand
  /** When it last had requests. */
  usedAt: number
  /** What it is to get as soon as that is free. */
  wanted: BucketPart
  /** What it was sent last, of a quota; `undefined` before that. */
  assigned: BucketPart | undefined
  /** What it may still go by until what replaced it has arrived. */
  replaced: BucketPart
  replacedAt: number
  sentAt: number
  /** The next sending is due at once, whatever it says. */
  renew: boolean
  /** No limit is assigned to it any more. */
  isUnwanted: boolean
  /** When it was sent that it is abandoned. */
  abandonedAt: number | undefined
}

/** What a proxy that cannot be reached any more may still go by. */
export interface Lease extends BucketPart {
  /** Of a proxy that can be known again. */
  readonly proxy: string | undefined
  readonly name: string
  readonly until: number
}

/** The most that a bucket's proxy may go by now. */
export function heldBy(holder: Holder, now: number, deliveryMs: number): BucketPart {
  const { assigned = NOTHING, replaced, replacedAt } = holder
  return now < arrivalOf(holder, replacedAt, now, deliveryMs) ? larger(assigned, replaced) : assigned
}

/** Forgets what was replaced, once what replaced it has arrived: something else that waits later changes nothing of that. */
export function settleHolder(holder: Holder, now: number, deliveryMs: number): void {
  if (now >= arrivalOf(holder, holder.replacedAt, now, deliveryMs))
    holder.replaced = holder.assigned ?? NOTHING
}

/** When what was sent at an instant has certainly arrived: not before what waits has left. */
export function arrivalOf({ stream }: Holder, sentAt: number, now: number, deliveryMs: number): number {
  return Math.max(sentAt, stream.busyUntil(now)) + deliveryMs
}

/** Whether what is sent now would leave at once. */
export function isReady({ stream }: Holder, now: number): boolean {
  return stream.busyUntil(now) < now
}

function larger(a: BucketPart, b: BucketPart): BucketPart {
  return { tokens: Math.max(a.tokens, b.tokens), burst: Math.max(a.burst, b.burst) }
}

export function isSame(a: BucketPart | undefined, b: BucketPart): boolean {
  return a?.tokens === b.tokens && a.burst === b.burst
}

/** A bucket without tokens, or into which none flow, refuses all. */
export function isNothing({ tokens, burst }: BucketPart): boolean {
  return tokens === 0 || burst === 0
}
