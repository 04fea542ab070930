import { type Rule, ruleOf, type Step } from '@sluice/limiter/decide'
import { concurrency, gcra } from '@sluice/limiter/edge'

/** The process that tries first after a pause may end: then others go on after so many milliseconds. */
const TURN_MS = 30_000
/** A limit that refuses nothing: its rule is there to be blocked. */
const ANY = 1_000_000

/** What all processes of a store know of a destination and key. */
export interface SharedPause {
  /** It is blocked for the time of a pause. */
  readonly pause: Rule
  /** Its one slot is held by the process that tries first after a pause. */
  readonly turn: Rule
}

export function sharedPause(): SharedPause {
  const options = { onStoreError: 'local' } as const
  const any = gcra.plan({ algorithm: gcra.name, limit: ANY, period: 1 })
  const one = concurrency.plan({ algorithm: concurrency.name, limit: 1, period: TURN_MS })
  return {
    pause: ruleOf('pause', 'outbound/pause', any, { ...options, blockable: true }),
    turn: ruleOf('turn', 'outbound/turn', one, options),
  }
}

/** What a call asks beside its limits: whether there is a pause, and whether another process tries first. */
export function pauseSteps({ pause, turn }: SharedPause, key: string): readonly [Step, Step] {
  return [
    { rule: pause, key, cost: 1 },
    { rule: turn, key, cost: 0 },
  ]
}
