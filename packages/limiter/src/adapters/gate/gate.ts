import { checkedCost } from '../../core/decide/cost.ts'
import type { Decision } from '../../core/decide/decision.ts'
import type { Key } from '../../limiter.ts'
import { andThen, andThenWith, isPromise, type MaybePromise, maybePromise } from '../../maybe-promise.ts'
import { BadQuestion } from '../../pipeline.ts'
import { type Caller, callerOf } from './caller/caller.ts'
import { callerList } from './caller/caller-list.ts'
import { proxyWarnings } from './caller/proxy-warnings.ts'
import type { FrameworkArgs, IncomingRequest } from './incoming-request.ts'
import { limitSourceOf } from './limits/choose-source.ts'
import type { LimitSource } from './limits/limit-source.ts'
import type { GateOptions } from './options/options.ts'
import { type GateSettings, gateSettingsOf } from './options/settings.ts'
import { infoOf, type RateLimitInfo } from './verdict/info.ts'
import { plainProblem } from './verdict/refusal.ts'
import { type Evaluation, evaluationOn } from './verdict/several-limiters.ts'
import { PASS, type Verdict } from './verdict/verdict.ts'
import { verdictMaker } from './verdict/verdict-maker.ts'

/** What every adapter is built on: requests in, verdicts out, nothing of any framework. */
export interface Gate<N extends FrameworkArgs> {
  /**
   * Decides a request once, however often it comes by. Throws, or rejects, when a function of the user's throws or
   * returns what makes no sense.
   */
  enter(incoming: IncomingRequest<N>): MaybePromise<Verdict>
  /** A key's figures now; changes nothing. */
  peek(key: Key): Promise<RateLimitInfo>
  /** Forgets what a key has used. */
  reset(key: Key): Promise<void>
  readonly requestPropertyName: string
}

const FORBIDDEN: Verdict = {
  ...PASS,
  refusal: plainProblem(403, 'Forbidden', 'This caller is not admitted.'),
}
/** For requests without a key, where those are refused: no wait helps. */
const KEYLESS_REFUSAL: Decision = {
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
 * @throws ConfigError for options that are wrong, or contradict each other
 * @example
 * const gate = createGate<[Request]>({ limit: 100, period: '1m', key: (request) => request.headers.get('x-user') ?? '' })
 * const { refusal } = await gate.enter(incoming)
 */
export function createGate<N extends FrameworkArgs>(
  options: GateOptions<N>,
  more: readonly string[] = [],
): Gate<N> {
  const settings = gateSettingsOf(options, more)
  const { requestPropertyName, wallClock } = settings
  const source = limitSourceOf(settings)
  const evaluate = evaluator(settings, source)
  const gate: Gate<N> = {
    requestPropertyName,
    enter(incoming) {
      const evaluation = evaluationOn(incoming.request, gate)
      if (evaluation === undefined) return PASS
      try {
        const verdict = evaluate(incoming, evaluation)
        return isPromise(verdict) ? verdict.catch(badRequest) : verdict
      } catch (error) {
        return badRequest(error)
      }
    },
    async peek(key) {
      return infoOf(await source.peek(key), typeof key === 'string' ? key : key.join(' '), wallClock())
    },
    reset: (key) => source.reset(key),
  }
  return gate
}

/** A request that cannot be decided is its client's mistake; all else is the application's. */
function badRequest(error: unknown): Verdict {
  if (!(error instanceof BadQuestion)) throw error
  return { ...PASS, refusal: plainProblem(400, 'Bad Request', error.message) }
}

/** The steps of one request: is it skipped, who calls, is the caller listed, what do the limits decide. */
function evaluator<N extends FrameworkArgs>(
  settings: GateSettings<N>,
  source: LimitSource<N>,
): (incoming: IncomingRequest<N>, evaluation: Evaluation) => MaybePromise<Verdict> {
  const { skip, cost = 1, denyList = [], allowList = [] } = settings
  const findCaller = callerOf(settings)
  const warn = proxyWarnings(settings)
  const verdict = verdictMaker(settings, source)
  const denied = callerList(denyList.map((entry) => [entry, FORBIDDEN]))
  const exempt = callerList(allowList.map((entry) => [entry, PASS]))

  if (typeof cost === 'number') checkedCost(cost)
  const decided: (incoming: IncomingRequest<N>, caller: Caller) => MaybePromise<Decision> =
    typeof cost === 'number'
      ? (incoming, caller) => source.check(incoming, caller, cost)
      : (incoming, caller) =>
          andThen(maybePromise(cost(...incoming.args)), (cost) =>
            source.check(incoming, caller, checkedCost(cost)),
          )

  const identified = (
    caller: Caller,
    incoming: IncomingRequest<N>,
    evaluation: Evaluation,
  ): MaybePromise<Verdict> => {
    const { shown, address, keyless } = caller
    warn?.(incoming, address)
    const listed = denied?.(shown, address) ?? (keyless === 'skip' ? PASS : exempt?.(shown, address))
    if (listed !== undefined) return listed
    const decision = keyless === 'deny' ? KEYLESS_REFUSAL : decided(incoming, caller)
    return isPromise(decision)
      ? andThenWith(decision, verdict, incoming, evaluation, caller)
      : verdict(decision, incoming, evaluation, caller)
  }
  const entered = (incoming: IncomingRequest<N>, evaluation: Evaluation): MaybePromise<Verdict> => {
    const caller = findCaller(incoming)
    return isPromise(caller)
      ? andThenWith(caller, identified, incoming, evaluation)
      : identified(caller, incoming, evaluation)
  }
  if (skip === undefined) return entered
  return (incoming, evaluation) =>
    andThen(maybePromise(skip(...incoming.args)), (skipped) =>
      skipped ? PASS : entered(incoming, evaluation),
    )
}
