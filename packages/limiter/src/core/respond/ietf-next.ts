import type { Dialect } from './dialect.ts'
import { ietf, quotaFields, untilMore } from './ietf.ts'
import { parameter } from './structured-field.ts'

/**
 * What the draft after -11 proposes: `a` and `w` for `r` and `t`, and the request's cost.
 *
 *     RateLimit: "default";a=50;w=30;c=1
 */
export const ietfNext: Dialect = {
  name: 'ietf-next',
  names: ietf.names,
  headers: (report) =>
    quotaFields(
      report,
      (policy) =>
        parameter('a', policy.remaining) +
        parameter('w', untilMore(policy)) +
        parameter('pk', policy.partitionKey) +
        parameter('c', report.cost),
    ),
}
