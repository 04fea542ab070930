import type { OffenderList } from '@sluice/limiter/offenders'
import { keyWords, policyWords, shareText, wholeText } from './figure-text.ts'
import type { LiveStore } from './live-second.ts'
import { decisionsOf, type LiveSummary } from './live-window.ts'

/** A part of the sentence: text, or a name. */
export type VerdictPart = string | { readonly name: string }

/**
 * What an operator asks first, in a sentence: which limit refuses, whom, and whether the store is well.
 * @param lists of the last five minutes
 * @example
 * verdictOf(summaryOf([window]), offenders).map((part) => (typeof part === 'string' ? part : part.name)).join('')
 */
export function verdictOf(summary: LiveSummary, lists: readonly OffenderList[]): readonly VerdictPart[] {
  const { store } = summary
  if (store === undefined) return ['No figures yet.']
  return [...refusals(summary, lists), ' ', storeText(store)]
}

function refusals({ all, denied, policies }: LiveSummary, lists: readonly OffenderList[]): VerdictPart[] {
  if (all === 0) return ['No requests in the last minute.']
  const worst = policies[0]
  if (worst === undefined || worst.limited === 0) {
    const [of, some] = [wholeText(all), wholeText(denied)]
    if (denied > 0)
      return [`${some} of the ${of} requests of the last minute were refused without the store.`]
    return [`All ${of} requests of the last minute were admitted.`, ...wouldRefuse(policies)]
  }
  const top = lists
    .find(({ domain, policy }) => domain === worst.domain && policy === worst.policy)
    ?.denied.keys.find(({ atLeast }) => atLeast > 0)
  const others = policies.filter(({ limited }) => limited > 0).length - 1
  return [
    { name: policyWords(worst) },
    ` refused ${shareText(worst.limited, decisionsOf(worst))} of its requests in the last minute`,
    ...(top === undefined ? [] : [', most of all from ', { name: keyWords(top.key) }]),
    others > 0 ? `; ${others} other limit${others === 1 ? '' : 's'} refused too.` : '.',
  ]
}

function wouldRefuse(policies: LiveSummary['policies']): VerdictPart[] {
  const watched = policies.find(({ shadow }) => shadow > 0)
  if (watched === undefined) return []
  return [
    ' ',
    { name: policyWords(watched) },
    `, in shadow mode, would have refused ${wholeText(watched.shadow)}.`,
  ]
}

function storeText({ kind, breaker, failures }: LiveStore): string {
  if (kind === 'memory') return 'The store (memory) is well.'
  if (breaker === 'open' || breaker === 'probing')
    return 'The store does not answer: each limit decides by its on_store_error.'
  return failures > 0 ? 'The store fails at times.' : 'The store is well.'
}
