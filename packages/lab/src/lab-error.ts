import { SluiceError } from '@sluice/limiter/errors'

/**
 * Traffic, or an option, that the lab can do nothing with: `ERR_SLUICE_LAB`.
 * @example
 * throw new LabError('cannot read access.log: there is no such file')
 */
export class LabError extends SluiceError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SLUICE_LAB', message, options)
  }
}
