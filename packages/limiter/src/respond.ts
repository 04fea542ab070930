/** Decisions as HTTP: statuses, headers in every dialect, problem bodies. */
export type {
  Dialect,
  Header,
  QuotaUnit,
  Report,
  ReportedPolicy,
  ReportOptions,
} from './core/respond/dialect.ts'
export { reportOf } from './core/respond/dialect.ts'
export {
  type DialectName,
  type Dialects,
  dialects,
  dialectsOf,
  exposedHeaders,
} from './core/respond/dialects.ts'
export type { Jitter } from './core/respond/jitter.ts'
export type { Problem, ProblemKind } from './core/respond/problem.ts'
export { type LimitResponse, type RespondOptions, respondTo } from './core/respond/respond.ts'
