import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Policy } from '@sluice/limiter/core/decide/policy'
import type { Step } from '@sluice/limiter/core/decide/step'
import { HttpError } from '../problem.ts'

/** One step's charge, as whoever settles it needs to know it. */
export interface Charged
  extends Pick<Step, 'policy' | 'key' | 'cost' | 'costFrom' | 'phase' | 'lease' | 'onStoreError'> {
  /** The policy's name, as callers see it. */
  readonly name: string
  /** The plan is made of it again, so that a reservation outlives a reload, and may be settled at another node. */
  readonly plan: Policy
}

/** What was reserved. */
export interface Reserved {
  /** Names the reservation, so that it is settled once. */
  readonly id: string
  /** When it was charged and until when it can be settled: microseconds of the store's clock. */
  readonly at: number
  readonly until: number
  /** Charged without the shared store. */
  readonly degraded?: true
  readonly charges: readonly Charged[]
}

/** Turns reservations into ids that carry all there is to know, and back. */
export interface ReservationIds {
  seal(reserved: Reserved): string
  /** @throws HttpError 400 for what is no id, 404 for an id that was not made with this secret */
  open(id: string): Reserved
}

/** @param secret shared by the nodes that settle each other's reservations; default: one for this process */
export function reservationIds(secret: string = randomBytes(32).toString('hex')): ReservationIds {
  // The secret also keys hashes elsewhere: a key of its own for each purpose.
  const key = createHmac('sha256', secret).update('sluice reservation').digest()
  const sign = (body: string): Buffer => createHmac('sha256', key).update(body).digest()
  return {
    seal(reserved) {
      const body = Buffer.from(JSON.stringify(reserved)).toString('base64url')
      return `${body}.${sign(body).toString('base64url')}`
    },
    open(id) {
      const [, body, signature] = /^([\w-]+)\.([\w-]{43})$/.exec(id) ?? []
      if (body === undefined || signature === undefined) throw new HttpError(400, 'id is not a reservation')
      if (!timingSafeEqual(Buffer.from(signature, 'base64url'), sign(body))) {
        throw new HttpError(404, 'the reservation is not known here')
      }
      return JSON.parse(Buffer.from(body, 'base64url').toString()) as Reserved
    },
  }
}
