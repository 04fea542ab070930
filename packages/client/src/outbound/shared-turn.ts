import { type Rule, ruleOf, type Step } from '@sluice/limiter/decide'
import { concurrency } from '@sluice/limiter/edge'

/** The process that holds the turn may end: then others go on after so many milliseconds. */
const TURN_MS = 30_000

/**
 * What all processes of a store know of a destination and key: its block is a pause, and its one slot is held by the
 * process that tries first after it.
 */
export function sharedTurn(): Rule {
  const plan = concurrency.plan({ algorithm: concurrency.name, limit: 1, period: TURN_MS })
  return ruleOf('turn', 'outbound/turn', plan, { blockable: true, onStoreError: 'local' })
}

/** @param cost 1 takes the turn; 0 looks whether another process has it */
export function turnStep(rule: Rule, key: string, cost: 0 | 1): Step {
  return { rule, key, cost }
}
