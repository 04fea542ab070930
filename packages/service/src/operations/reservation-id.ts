import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Policy } from '@sluice/limiter/algorithms'
import type { Rule, Step } from '@sluice/limiter/decide'
import { OperationError } from './operation-error.ts'

/** One step's charge, with all that settling it needs. */
export interface ReservedCharge
  extends Pick<Step, 'key' | 'cost' | 'costFrom' | 'phase' | 'chargeId'>,
    Pick<Rule, 'name' | 'namespace' | 'onStoreError'> {
  /** The plan is made of it again, so that a reservation outlives a reload, and may be settled at another node. */
  readonly policy: Policy
  /** When it was charged: microseconds of the store's clock. */
  readonly at: number
}

/** What was reserved. */
export interface ReservedRequest {
  readonly domain: string
  /** Names the reservation, so that it is settled once. */
  readonly id: string
  /** Until when it can be settled: microseconds of the store's clock. */
  readonly until: number
  /** Charged without the shared store. */
  readonly degraded?: true
  readonly charges: readonly ReservedCharge[]
}

/** Turns reservations into ids that carry all there is to know, and back. */
export interface ReservationIds {
  seal(reserved: ReservedRequest): string
  /** @throws OperationError for what is not an id, or an id that was not made with this secret */
  open(id: string): ReservedRequest
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
      if (body === undefined || signature === undefined)
        throw new OperationError('invalid', 'id is not a reservation')
      if (!timingSafeEqual(Buffer.from(signature, 'base64url'), sign(body))) {
        throw new OperationError('unknown', 'the reservation is not known here')
      }
      return JSON.parse(Buffer.from(body, 'base64url').toString()) as ReservedRequest
    },
  }
}
