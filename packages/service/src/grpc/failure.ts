import { status } from '@grpc/grpc-js'
import { StoreError } from '@sluice/limiter/errors'
import { BadQuestion, UnknownDomain } from '@sluice/limiter/pipeline'
import { OperationError } from '../operations/operation-error.ts'

/** An error in words for the caller; a fault of the service's own (INTERNAL) reveals nothing. */
export function failureOf(error: unknown): { readonly code: status; readonly details: string } {
  if (error instanceof OperationError || error instanceof BadQuestion)
    return { code: status.INVALID_ARGUMENT, details: error.message }
  if (error instanceof UnknownDomain) return { code: status.NOT_FOUND, details: error.message }
  if (error instanceof StoreError) return { code: status.UNAVAILABLE, details: 'the store does not answer' }
  return { code: status.INTERNAL, details: 'the service failed; its log says how' }
}
