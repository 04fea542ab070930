import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
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
interface ReservedRequest {
  readonly domain: string
  /** Names the reservation, so that it is settled once. */
  readonly id: string
  /** Until when it can be settled: microseconds of the store's clock. */
  readonly until: number
  /** Charged without the shared store, in the process that is named so: only it has the charge. */
  readonly degraded?: string
  readonly charges: readonly ReservedCharge[]
}

/** Turns reservations into ids that carry all there is to know, and back. Who holds one cannot read it. */
export interface ReservationIds {
  seal(reserved: ReservedRequest): string
  /** @throws OperationError for what is not an id, or an id that was not made with this secret */
  open(id: string): ReservedRequest
}

const CIPHER = 'aes-256-gcm'
/** Bytes of the nonce before the text, and of the tag behind it. */
const NONCE = 12
const TAG = 16

/** @param secret shared by the nodes that settle each other's reservations; default: one for this process */
export function reservationIds(secret: string = randomBytes(32).toString('hex')): ReservationIds {
  // The secret also keys hashes elsewhere: a key of its own for each purpose.
  const key = createHmac('sha256', secret).update('sluice reservation').digest()
  return {
    seal(reserved) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv(CIPHER, key, nonce)
      const text = Buffer.concat([cipher.update(JSON.stringify(reserved)), cipher.final()])
      return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')
    },
    open(id) {
      const bytes = Buffer.from(id, 'base64url')
      if (bytes.length <= NONCE + TAG || bytes.toString('base64url') !== id)
        throw new OperationError('invalid', 'id is not a reservation')
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE), { authTagLength: TAG })
        decipher.setAuthTag(bytes.subarray(-TAG))
        const text = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()])
        return JSON.parse(text.toString()) as ReservedRequest
      } catch {
        throw new OperationError('unknown', 'the reservation is not known here')
      }
    },
  }
}
