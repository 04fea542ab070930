import { type Decision, decisionOf } from '../../core/decide/decision.ts'
import { StoreError } from '../../core/errors.ts'
import type { Subject } from '../../core/match/subject.ts'
import type { Native } from './arrival.ts'
import type { Asked, Question, Quotas } from './quotas.ts'
import type { Settings } from './settings.ts'

/**
 * Asks the quotas, tells the observer, and answers by `onStoreError` where a store fails that has no FallbackStore
 * around it: one that a limiter of the user's keeps.
 */
export function asking<N extends Native>(settings: Settings<N>, quotas: Quotas<N>): Quotas<N>['ask'] {
  const { name, observe, logger, onStoreError = 'open', rules } = settings
  let failing = false
  const answer = async (question: Question<N>): Promise<Asked> => {
    try {
      const asked = await quotas.ask(question)
      failing = false
      return asked
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      observe?.({ type: 'store-failed', domain: name, error })
      if (!failing)
        logger.error(`rate limit: the store failed (${error.message}): ${onStoreError} until it answers`)
      failing = true
      return { decision: decisionOf([], [], [], onStoreError !== 'closed', true), settle: () => undefined }
    }
  }
  // A rulebook's pipeline tells of its decisions itself.
  if (observe === undefined || rules !== undefined) return answer
  return async (question) => {
    const asked = await answer(question)
    const { decision } = asked
    observe({
      type: 'decided',
      domain: name,
      decision,
      subjects: subjectsOf(decision, onStoreError),
      peek: false,
    })
    return asked
  }
}

function subjectsOf({ policies }: Decision, onStoreError: Subject['onStoreError']): Subject[] {
  return policies.map(({ policy, shadow }) => ({
    name: policy,
    onLimit: 'deny',
    mode: shadow ? 'shadow' : 'enforce',
    onStoreError,
  }))
}
