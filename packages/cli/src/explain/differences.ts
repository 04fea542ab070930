import type { AnswerThen } from '@sluice/lab'
import type { Decision } from '@sluice/limiter'
import type { Account } from './account.ts'

/** In what a replay differs from what was answered. */
export type DifferingField = 'allowed' | 'policy' | 'remaining' | 'waitMs'

const TOO_MANY = 429
/** A refusal, as of nginx by default, or a fault. */
export const UNAVAILABLE = 503

/** Empty: both agree, as far as the log says. */
export function differencesOf(
  then: AnswerThen,
  { allowed, policy, remaining, retryAfterMs }: Decision,
): DifferingField[] {
  if ('status' in then) {
    if (then.status === UNAVAILABLE) return []
    return allowed === (then.status === TOO_MANY) ? ['allowed'] : []
  }
  const differs: Readonly<Record<DifferingField, boolean>> = {
    allowed: then.allowed !== allowed,
    policy: then.policy !== policy,
    remaining: then.remaining !== null && then.remaining !== remaining,
    waitMs: then.waitMs !== retryAfterMs,
  }
  return (Object.keys(differs) as DifferingField[]).filter((name) => differs[name])
}

/** Why a replay can differ, most certain first. @param hasLog whether more than the line itself was replayed */
export function reasonsOf(then: AnswerThen, { rules }: Account, hasLog: boolean): string[] {
  const isRecord = 'policy' in then
  return [
    ...(isRecord && then.degraded ? ['It was decided without the store, by one node alone.'] : []),
    ...(isRecord && then.policy !== '' && !rules.some(({ rule }) => rule === then.policy)
      ? [`Other rules were in force: these have no ${then.policy}.`]
      : [
          isRecord
            ? 'Other rules may have been in force.'
            : 'These rules, or any, may not have been in force.',
        ]),
    hasLog
      ? 'What was used before the log begins is not known.'
      : 'Nothing before it was replayed: name its log with --log.',
    ...(hasLog ? ['Other nodes may have counted on the same store: name their logs, too.'] : []),
  ]
}
