import type { Decision } from '../../core/decide/decision.ts'
import { checkedCost } from '../../engine.ts'
import type { Key } from '../../limiter.ts'
import { BadQuestion } from '../../pipeline.ts'
import type { Arrival, Native } from './arrival.ts'
import { asking } from './asking.ts'
import { infoOf, type RateLimitInfo } from './info.ts'
import type { GateOptions } from './options.ts'
import { people } from './people.ts'
import type { Quotas } from './quotas.ts'
import { plainProblem } from './reply.ts'
import { type Settings, settingsOf } from './settings.ts'
import { given, isPromised, later, type Soon, soon } from './soon.ts'
import { quotasOf } from './source.ts'
import { placeOn, type Standing } from './standing.ts'
import { FREE, type Verdict } from './verdict.ts'
import { verdicts } from './verdicts.ts'
import { watchOf } from './warnings.ts'
import { type Caller, whoseOf } from './whose.ts'

/** What every adapter is built on: requests in, verdicts out, nothing of any framework. */
export interface Gate<N extends Native> {
  /** Judges a request once, however often it comes by. Throws, or rejects, when a user's function throws or gives nonsense. */
  enter(arrival: Arrival<N>): Soon<Verdict>
  /** A key's figures now; changes nothing. */
  peek(key: Key): Promise<RateLimitInfo>
  /** Forgets what a key has used. */
  reset(key: Key): Promise<void>
  readonly requestPropertyName: string
}

const FORBIDDEN: Verdict = {
  ...FREE,
  refusal: plainProblem(403, 'Forbidden', 'This caller is not admitted.'),
}
/** For requests without a key, where those are refused: no wait helps. */
const NEVER: Decision = {
  allowed: false,
  policy: 'missing-key',
  limit: 0,
  remaining: 0,
  retryAfterMs: null,
  moreAfterMs: null,
  resetAfterMs: null,
  delayMs: 0,
  policies: [],
  degraded: false,
}
/**
 * @param more names of options that the framework's adapter reads itself
 * @throws ConfigError for options that mean nothing, or nothing together
 */
export function createGate<N extends Native>(options: GateOptions<N>, more: readonly string[] = []): Gate<N> {
  const settings = settingsOf(options, more)
  const { requestPropertyName, wallClock } = settings
  const quotas = quotasOf(settings)
  const judge = judging(settings, quotas)
  const gate: Gate<N> = {
    requestPropertyName,
    enter(arrival) {
      const standing = placeOn(arrival.holder, gate)
      if (standing === undefined) return FREE
      try {
        const verdict = judge(arrival, standing)
        return isPromised(verdict) ? verdict.catch(notUnderstood) : verdict
      } catch (error) {
        return notUnderstood(error)
      }
    },
    async peek(key) {
      return infoOf(await quotas.peek(key), typeof key === 'string' ? key : key.join(' '), wallClock())
    },
    reset: (key) => quotas.reset(key),
  }
  return gate
}

/** A request that cannot be decided is its caller's mistake; all else is the application's. */
function notUnderstood(error: unknown): Verdict {
  if (!(error instanceof BadQuestion)) throw error
  return { ...FREE, refusal: plainProblem(400, 'Bad Request', error.message) }
}

function judging<N extends Native>(
  settings: Settings<N>,
  quotas: Quotas<N>,
): (arrival: Arrival<N>, standing: Standing) => Soon<Verdict> {
  const { skip, cost = 1, denyList = [], allowList = [] } = settings
  const ask = asking(settings, quotas)
  const whose = whoseOf(settings)
  const watch = watchOf(settings)
  const verdict = verdicts(settings, quotas)
  const denied = people(denyList.map((who) => [who, FORBIDDEN]))
  const exempt = people(allowList.map((who) => [who, FREE]))

  if (typeof cost === 'number') checkedCost(cost)
  const decided: (arrival: Arrival<N>, caller: Caller) => Soon<Decision> =
    typeof cost === 'number'
      ? (arrival, caller) => ask(arrival, caller, cost)
      : (arrival, caller) =>
          soon(given(cost(...arrival.native)), (cost) => ask(arrival, caller, checkedCost(cost)))

  const identified = (caller: Caller, arrival: Arrival<N>, standing: Standing): Soon<Verdict> => {
    const { shown, address, keyless } = caller
    watch?.(arrival, address)
    const listed = denied?.(shown, address) ?? (keyless === 'skip' ? FREE : exempt?.(shown, address))
    if (listed !== undefined) return listed
    const decision = keyless === 'deny' ? NEVER : decided(arrival, caller)
    return isPromised(decision)
      ? later(decision, verdict, arrival, standing, caller)
      : verdict(decision, arrival, standing, caller)
  }
  const entered = (arrival: Arrival<N>, standing: Standing): Soon<Verdict> => {
    const caller = whose(arrival)
    return isPromised(caller)
      ? later(caller, identified, arrival, standing)
      : identified(caller, arrival, standing)
  }
  if (skip === undefined) return entered
  return (arrival, standing) =>
    soon(given(skip(...arrival.native)), (skipped) => (skipped ? FREE : entered(arrival, standing)))
}
