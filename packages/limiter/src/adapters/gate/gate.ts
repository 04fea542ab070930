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
import { type Soon, soon } from './soon.ts'
import { quotasOf } from './source.ts'
import { standingOf } from './standing.ts'
import { FREE, type Verdict } from './verdict.ts'
import { verdicts } from './verdicts.ts'
import { watchOf } from './warnings.ts'
import { type Caller, whoseOf } from './whose.ts'

/** What every adapter is built on: requests in, verdicts out, nothing of any framework. */
export interface Gate<N extends Native> {
  /** Judges a request once, however often it comes by. Rejects when a user's function throws or gives nonsense. */
  enter(arrival: Arrival<N>): Promise<Verdict>
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
/** A rulebook works out for itself whose quota it is. */
const RULED: Caller = { key: '', shown: '' }

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
    async enter(arrival) {
      const { judges } = standingOf(arrival.holder)
      if (judges.includes(gate)) return FREE
      judges.push(gate)
      try {
        return await judge(arrival)
      } catch (error) {
        if (!(error instanceof BadQuestion)) throw error
        return { ...FREE, refusal: plainProblem(400, 'Bad Request', error.message) }
      }
    },
    async peek(key) {
      return infoOf(await quotas.peek(key), typeof key === 'string' ? key : key.join(' '), wallClock())
    },
    reset: (key) => quotas.reset(key),
  }
  return gate
}

function judging<N extends Native>(
  settings: Settings<N>,
  quotas: Quotas<N>,
): (arrival: Arrival<N>) => Soon<Verdict> {
  const { skip, rules, cost = 1, denyList = [], allowList = [] } = settings
  const ask = asking(settings, quotas)
  const whose = whoseOf(settings)
  const watch = watchOf(settings)
  const verdict = verdicts(settings)
  const denied = people(denyList.map((who) => [who, true]))
  const exempt = people(allowList.map((who) => [who, true]))

  const located = (arrival: Arrival<N>, address: string | undefined): Soon<Verdict> => {
    watch(arrival, address)
    return rules === undefined
      ? soon(whose.caller(arrival, address), (caller) => identified(arrival, address, caller))
      : identified(arrival, address, RULED)
  }
  const identified = (
    arrival: Arrival<N>,
    address: string | undefined,
    caller: Caller | 'skip' | 'deny',
  ): Soon<Verdict> => {
    const shown = typeof caller === 'string' || caller === RULED ? undefined : caller.shown
    if (denied(shown, address)) return FORBIDDEN
    if (caller === 'skip' || exempt(shown, address)) return FREE
    if (caller === 'deny') return verdict(arrival, undefined, { decision: NEVER, settle: () => undefined })
    const asked = soon(typeof cost === 'function' ? cost(...arrival.native) : cost, (own) =>
      ask({ arrival, address, key: caller.key, shown: caller.shown, cost: checkedCost(own) }),
    )
    return soon(asked, (asked) => verdict(arrival, shown, asked))
  }
  return (arrival) =>
    soon(skip?.(...arrival.native), (skipped) =>
      skipped ? FREE : soon(whose.address(arrival), (address) => located(arrival, address)),
    )
}
