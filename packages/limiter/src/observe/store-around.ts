import type { MaybePromise } from '../maybe-promise.ts'
import type { StateName, Store } from '../stores/store.ts'

/** What a store is asked to do. */
export type StoreCall = 'decide' | 'settle' | 'reset' | 'block'

/**
 * Calls a store, and sees when the call begins and how it ends.
 * @param about the first state that the call is about
 */
export type AroundCall<Async extends boolean> = <T>(
  call: StoreCall,
  go: () => MaybePromise<T, Async>,
  about: StateName | undefined,
) => MaybePromise<T, Async>

/**
 * A store, each call of which goes through `around`.
 * @example
 * const counted = storeAround(store, (call, go) => {
 *   calls.inc({ call })
 *   return go()
 * })
 */
export function storeAround<Async extends boolean>(
  store: Store<Async>,
  around: AroundCall<Async>,
): Store<Async> {
  return {
    async: store.async,
    decide: (steps, peek) => around('decide', () => store.decide(steps, peek), steps[0]),
    settle: (charges, once) => around('settle', () => store.settle(charges, once), charges[0]?.step),
    reset: (state) => around('reset', () => store.reset(state), state),
    block: (state, ticks) => around('block', () => store.block(state, ticks), state),
    close: () => store.close(),
    ...(store.shardOf && { shardOf: (step) => store.shardOf!(step) }),
  }
}
