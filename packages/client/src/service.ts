/** A client of `sluice serve`. */
export type { FetchFunction } from './retry/retrying.ts'
export type { LeaseOptions } from './service/leases.ts'
export type {
  DomainNames,
  LimitNames,
  QuestionSubject,
  RequestOf,
  ServiceQuestion,
} from './service/limit-names.ts'
export type { RefusalsOptions } from './service/refusals.ts'
export type { ReservedServiceAnswer, ServiceAnswer } from './service/service-answer.ts'
export { createServiceClient } from './service/service-client.ts'
export type { LocalPipeline, OnServiceError, ServiceClientOptions } from './service/service-client-options.ts'
export { ProblemError, ServiceError } from './service/service-errors.ts'
export type { AskOptions, ReserveAskOptions, ReservedCosts, ServiceClient } from './service/service-verbs.ts'
