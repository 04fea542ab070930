import type { Decision } from './core/decide/decision.ts'
import { type DecisionBy, givenCost, type ShortForms, type ShortParts } from './limiter-of.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { isListening } from './observe/events.ts'
import { joinedKey } from './policy-steps.ts'
import type { Store } from './stores/store.ts'

/**
 * `check` and `allow` without steps, outcomes and their lists, where the store offers that and the policies allow it:
 * one cost for all policies, which only admit or refuse. What they answer is the same; limiter.plain.test.ts compares.
 */
export function shortForms<Async extends boolean>({
  name,
  store,
  steps,
  observe,
  check,
  allow,
}: ShortParts<Async>): ShortForms<Async> {
  const { plain } = steps
  const { decisionOfOne, admits } = store
  if (plain === undefined || decisionOfOne === undefined || admits === undefined || !isWhole(store)) return {}
  const [only] = plain
  const shortCheck: ShortForms<Async>['check'] = (key, options) => {
    const cost = givenCost(options)
    if (typeof cost !== 'number') return check(key, options)
    const decision: Decision = decisionOfOne.call(store, only!, joinedKey(key, 'key'), cost, false)
    if (observe !== undefined && isListening(observe, 'decided'))
      observe({ type: 'decided', domain: name, decision, peek: false })
    return decision as MaybePromise<DecisionBy<string, Async>, Async>
  }
  const shortAllow: ShortForms<Async>['allow'] = (key, options) => {
    const cost = givenCost(options)
    if (typeof cost !== 'number') return allow(key, options)
    return admits.call(store, plain, joinedKey(key, 'key'), cost) as MaybePromise<boolean, Async>
  }
  return {
    ...(plain.length === 1 && { check: shortCheck }),
    ...(observe === undefined && { allow: shortAllow }),
  }
}

/** Whether the short forms belong to the store's `decide`: who overrides that one alone means every decision. */
function isWhole(store: Store<boolean>): boolean {
  return !store.async && ownerOf(store, 'decide') === ownerOf(store, 'decisionOfOne')
}

function ownerOf(store: object, name: string): object | null {
  let owner: object | null = store
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner)
  return owner
}
