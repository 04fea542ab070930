import type { DialectWriter } from './dialect.ts'
import { IETF_FIELDS, quotaFields, untilMore } from './ietf.ts'
import { parameter } from './structured-field.ts'

/**
 * What the draft after -11 proposes: `a` and `w` for `r` and `t`, and the request's cost.
 *
 *     RateLimit: "default";a=50;w=30;c=1
 */
export function ietfNext(): DialectWriter {
  return {
    name: 'ietf-next',
    names: IETF_FIELDS,
    headers: quotaFields(
      (policy, { cost }) =>
        parameter(';a=', policy.remaining) +
        parameter(';w=', untilMore(policy)) +
        parameter(';pk=', policy.partitionKey) +
        parameter(';c=', cost),
    ),
  }
}
