/** Errors, their codes and fields, and hints for names that were mistyped. */
export {
  ConfigError,
  errorsOf,
  type FieldPath,
  type Position,
  SluiceError,
  StoreError,
} from './core/errors.ts'
export { nearest } from './core/nearest.ts'
