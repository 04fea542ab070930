/** A client of `sluice serve`. */
export type { FetchFunction } from './retry/retrying.ts'
export type { LeaseOptions } from './service/leases.ts'
export type { DomainNames, LimitNames, RequestOf, ServiceQuestion, Subject } from './service/limit-names.ts'
export type { RefusalsOptions } from './service/refusals.ts'
export type { ReservedServiceAnswer, ServiceAnswer } from './service/service-answer.ts'
export {
  type AskOptions,
  createServiceClient,
  type ReserveAskOptions,
  type ReservedCosts,
  type ServiceClient,
} from './service/service-client.ts'
export type { LocalPipeline, OnServiceError, ServiceClientOptions } from './service/service-client-options.ts'
export { ProblemError, ServiceError } from './service/service-errors.ts'
