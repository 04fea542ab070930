/** A client of `sluice serve`. */
export type { LeaseOptions } from './service/leases.ts'
export type { DomainNames, LimitNames, RequestOf, ServiceQuestion, Subject } from './service/limit-names.ts'
export type { RefusalsOptions } from './service/refusals.ts'
export type { ReservedServiceAnswer, ServiceAnswer } from './service/service-answer.ts'
export type { Fetch } from './service/service-calls.ts'
export {
  type AskOptions,
  createServiceClient,
  type ReserveAskOptions,
  type ReservedCosts,
  type ServiceClient,
} from './service/service-client.ts'
export type { LocalPipeline, OnServiceError, ServiceClientOptions } from './service/service-client-options.ts'
export { ProblemError, ServiceError } from './service/service-errors.ts'
