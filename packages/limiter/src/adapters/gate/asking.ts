import type { Decision } from '../../core/decide/decision.ts'
import type { Subject } from '../../core/match/subject.ts'
import type { Native } from './arrival.ts'
import type { Quotas } from './quotas.ts'
import type { Settings } from './settings.ts'
import { soon } from './soon.ts'

/** Asks the quotas, and tells the observer. */
export function asking<N extends Native>(settings: Settings<N>, quotas: Quotas<N>): Quotas<N>['ask'] {
  const { name, observe, onStoreError = 'open', rules } = settings
  // A rulebook's pipeline tells of its decisions itself.
  if (observe === undefined || rules !== undefined) return quotas.ask
  return (arrival, caller, cost) =>
    soon(quotas.ask(arrival, caller, cost), (decision) => {
      observe({
        type: 'decided',
        domain: name,
        decision,
        subjects: subjectsOf(decision, onStoreError),
        peek: false,
      })
      return decision
    })
}

function subjectsOf({ policies }: Decision, onStoreError: Subject['onStoreError']): Subject[] {
  return policies.map(({ policy, shadow }) => ({
    name: policy,
    onLimit: 'deny',
    mode: shadow ? 'shadow' : 'enforce',
    onStoreError,
  }))
}
