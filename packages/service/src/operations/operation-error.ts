/** Why an operation was not carried out: `invalid` question, `unknown` thing, or one that is `over`. */
export type OperationFault = 'invalid' | 'unknown' | 'over'

/** An operation that cannot be carried out, in words for the caller. Each transport has its own code for the fault. */
export class OperationError extends Error {
  readonly fault: OperationFault

  constructor(fault: OperationFault, message: string) {
    super(message)
    this.name = 'OperationError'
    this.fault = fault
  }
}
