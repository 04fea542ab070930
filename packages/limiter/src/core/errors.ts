/** Where a mistake stands in a file; lines and columns count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Every error of ours: a stable `code` to switch on, a message to read. A refusal is never one of these. */
export class SluiceError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** A policy, rule or option that cannot mean anything. Thrown when it is built, never while deciding. */
export class ConfigError extends SluiceError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SLUICE_CONFIG', message, options)
  }
}

/** The store did not answer, or answered nonsense. `cause` is what it said. */
export class StoreError extends SluiceError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SLUICE_STORE', message, options)
  }
}
