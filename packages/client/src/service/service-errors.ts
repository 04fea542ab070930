import { SluiceError } from '@sluice/limiter/errors'
import type { ProblemBody } from '@sluice/limiter/wire'

/**
 * The service did not answer, did not answer in time, or answered nonsense: `ERR_SLUICE_SERVICE`. `cause` is what was
 * wrong. `check` and `peek` do not reject with it: there `onError` decides.
 * @example
 * if (error instanceof ServiceError && error.late) console.error('the service is slow')
 */
export class ServiceError extends SluiceError {
  /** It did not answer within the deadline. */
  readonly late: boolean

  constructor(
    message: string,
    { late = false, ...options }: ErrorOptions & { readonly late?: boolean } = {},
  ) {
    super('ERR_SLUICE_SERVICE', message, options)
    this.late = late
  }
}

/**
 * The service cannot take the question as it stands: `ERR_SLUICE_PROBLEM`. Asking again does not help.
 * @example
 * if (error instanceof ProblemError && error.status === 404) console.error('no such domain')
 */
export class ProblemError extends SluiceError {
  /** The status of HTTP, 400 to 499: 404 where the domain is not known. */
  readonly status: number

  constructor({ status, detail }: Pick<ProblemBody, 'status' | 'detail'>) {
    super('ERR_SLUICE_PROBLEM', detail)
    this.status = status
  }
}

/** What a problem that the service answers means for whoever asked. */
export function errorOfProblem(problem: ProblemBody): ProblemError | ServiceError {
  return problem.status < 500 ? new ProblemError(problem) : new ServiceError(problem.detail)
}
