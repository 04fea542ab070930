/** Where a mistake stands in a file; lines and columns count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/**
 * Every error of ours: a stable `code` to switch on, a message to read. A refusal is never one of these.
 * @example
 * try {
 *   await limiter.check('ada')
 * } catch (error) {
 *   if (error instanceof SluiceError) console.error(error.code) // ERR_SLUICE_STORE
 * }
 */
export class SluiceError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** Where in an object a mistake stands: `['block', 'after']`. */
export type FieldPath = readonly (string | number)[]

/**
 * A policy, rule or option that is wrong. Thrown when it is built, never while deciding.
 * @example
 * try {
 *   planOf({ algorithm: 'gcra', limit: -1, period: '1s' })
 * } catch (error) {
 *   if (error instanceof ConfigError) console.error(error.path) // ['limit']
 * }
 */
export class ConfigError extends SluiceError {
  /** The field that is wrong, in the object that was given; absent where it is no single field. */
  readonly path: FieldPath | undefined

  constructor(message: string, { path, ...options }: ErrorOptions & { readonly path?: FieldPath } = {}) {
    super('ERR_SLUICE_CONFIG', message, options)
    this.path = path
  }
}

/**
 * The store did not answer, or answered nonsense: `ERR_SLUICE_STORE`. `cause` is what it said.
 * @example
 * throw new StoreError('the store closed the connection', { cause: error })
 */
export class StoreError extends SluiceError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SLUICE_STORE', message, options)
  }
}

/**
 * Every ConfigError that these checks throw, in order.
 * @example
 * errorsOf([() => ticksOf('soon'), () => planOf(policy)]).map(({ message }) => message)
 */
export function errorsOf(checks: readonly (() => void)[]): readonly ConfigError[] {
  return checks.flatMap((check) => {
    try {
      check()
      return []
    } catch (error) {
      if (error instanceof ConfigError) return [error]
      throw error
    }
  })
}
