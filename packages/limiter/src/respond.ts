/** Decisions as HTTP: statuses, headers in every dialect, problem bodies; and headers back into figures. */

export { exposedHeaders } from './core/respond/chosen-dialects.ts'
export type {
  Dialect,
  Header,
  HeaderLookup,
  QuotaUnit,
  ReadPolicy,
  ReadReport,
  Report,
  ReportedPolicy,
  ReportOptions,
} from './core/respond/dialect.ts'
export type { DialectName, Dialects } from './core/respond/dialect-writers.ts'
export { dialects, dialectsOf } from './core/respond/dialects.ts'
export { readDraft07 } from './core/respond/draft-07.ts'
export { type Expiring, expiringOf } from './core/respond/expiring.ts'
export { quotasAt, readExpiring } from './core/respond/expiring-reader.ts'
export { countAt, durationAt } from './core/respond/header-text.ts'
export { readHttpDate } from './core/respond/http-date.ts'
export { readIetf } from './core/respond/ietf.ts'
export type { Jitter } from './core/respond/jitter.ts'
export type { Problem, ProblemKind, RefusalReason } from './core/respond/problem.ts'
export { reportOf } from './core/respond/report.ts'
export { respondTo } from './core/respond/respond.ts'
export type { LimitResponse, RespondOptions } from './core/respond/response.ts'
export { readRetryAfter } from './core/respond/retry-after.ts'
