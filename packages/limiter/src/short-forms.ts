import { givenCost, type ShortParts, type VerbParts } from './limiter-of.ts'
import { isListening } from './observe/events.ts'
import { joinedKey } from './policy-steps.ts'
import type { Store } from './stores/store.ts'

/**
 * Decisions without steps, outcomes and their lists, where the store offers that and the policies allow it: one cost for
 * all of them. What they answer is the same; limiter.plain.test.ts compares.
 */
export function shortForms<Async extends boolean>({
  name,
  store,
  steps,
  observe,
  decide,
  allow,
}: ShortParts<Async>): Partial<VerbParts<Async>> {
  const { plain } = steps
  const { decisionOf, admits } = store
  if (plain === undefined || decisionOf === undefined || admits === undefined || !isWhole(store)) return {}
  const shortDecide: VerbParts<Async>['decide'] = (key, cost, peek) => {
    if (typeof cost !== 'number') return decide(key, cost, peek)
    const decision = decisionOf.call(store, plain, joinedKey(key, 'key'), cost, peek)
    if (observe !== undefined && isListening(observe, 'decided'))
      observe({ type: 'decided', domain: name, decision, peek })
    return decision as ReturnType<typeof decide>
  }
  const shortAllow: VerbParts<Async>['allow'] = (key, options) => {
    const cost = givenCost(options)
    if (typeof cost !== 'number') return allow(key, options)
    return admits.call(store, plain, joinedKey(key, 'key'), cost) as ReturnType<typeof allow>
  }
  return { decide: shortDecide, ...(observe === undefined && { allow: shortAllow }) }
}

/** Whether the short forms belong to the store's `decide`: who overrides that one alone means every decision. */
function isWhole(store: Store<boolean>): boolean {
  return !store.async && ownerOf(store, 'decide') === ownerOf(store, 'decisionOf')
}

function ownerOf(store: object, name: string): object | null {
  let owner: object | null = store
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner)
  return owner
}
