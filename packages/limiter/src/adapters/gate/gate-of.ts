import { BadQuestion } from '../../bad-question.ts'
import { type CostByName, checkedCost } from '../../core/decide/cost.ts'
import type { Decision } from '../../core/decide/decision.ts'
import { andThen, andThenWith, isPromise, type MaybePromise, maybePromise } from '../../maybe-promise.ts'
import { isListening } from '../../observe/events.ts'
import type { Key, Keys } from '../../policy-steps.ts'
import { type Caller, type FindCaller, shownKey } from './caller/caller-key.ts'
import type { CallerList } from './caller/caller-list.ts'
import type { RequestWatch } from './caller/proxy-warnings.ts'
import type { FrameworkArgs, IncomingRequest } from './incoming-request.ts'
import type { LimitSource } from './limits/limit-source.ts'
import type { GateSettings } from './options/settings.ts'
import { infoOf, type RateLimitInfo, refusedFor, UNLIMITED } from './verdict/info.ts'
import { plainProblem } from './verdict/refusal.ts'
import { type Evaluation, evaluationOn, infoOn } from './verdict/several-limiters.ts'
import { showFigures } from './verdict/show-figures.ts'
import { plainVerdict, type Verdict } from './verdict/verdict.ts'
import { verdictMaker } from './verdict/verdict-maker.ts'

/** What every adapter is built on: requests in, verdicts out, nothing of any framework. */
export interface Gate<N extends FrameworkArgs> {
  /**
   * Decides a request once, however often it comes by. Throws, or rejects, when a function of the user's throws or
   * returns what makes no sense.
   */
  enter(incoming: IncomingRequest<N>): MaybePromise<Verdict>
  /** A key's figures now; changes nothing. */
  peek(key: Key | Keys): Promise<RateLimitInfo>
  /** Forgets what a key has used. */
  reset(key: Key | Keys): Promise<void>
  readonly requestPropertyName: string
}

/** What a gate is made of: who calls, and which limits decide, are found by what it is given. */
export interface GateParts<N extends FrameworkArgs> {
  readonly settings: GateSettings<N>
  readonly source: LimitSource<N>
  readonly findCaller: FindCaller<N>
  /** Looks at requests, to warn of what seems wrong. */
  readonly watch?: RequestWatch<N> | undefined
  /** Callers that are refused, and those that are not limited. */
  readonly denied?: CallerList<true> | undefined
  readonly exempt?: CallerList<true> | undefined
}

/** Refusals that have nothing to do with a quota: no wait helps. */
const KEYLESS = refusedFor('missing-key')
const DENIED = refusedFor('deny-list')
const UNREADABLE = refusedFor('bad-request')

/** A gate of these parts. */
export function gateOf<N extends FrameworkArgs>(parts: GateParts<N>): Gate<N> {
  const { settings, source } = parts
  const { requestPropertyName: name, wallClock } = settings
  const evaluate = timed(evaluator(parts), settings)
  const asksBefore = hasFunctions(settings)
  /** A request that cannot be decided is its client's mistake; all else is the application's. */
  const failed = (error: unknown, incoming: IncomingRequest<N>, evaluation: Evaluation): Verdict => {
    if (!(error instanceof BadQuestion)) throw error
    const info = showFigures(incoming, evaluation, UNREADABLE, undefined, wallClock())
    return plainVerdict(info, plainProblem(400, 'Bad Request', error.message))
  }
  const caught = async (
    verdict: Promise<Verdict>,
    incoming: IncomingRequest<N>,
    evaluation: Evaluation,
  ): Promise<Verdict> => {
    try {
      return await verdict
    } catch (error) {
      return failed(error, incoming, evaluation)
    }
  }
  const gate: Gate<N> = {
    requestPropertyName: name,
    enter(incoming) {
      const evaluation = evaluationOn(incoming.request, gate, name)
      if (evaluation === undefined) {
        return plainVerdict(infoOn(incoming.request, name) ?? infoOf(UNLIMITED, undefined, wallClock()))
      }
      if (asksBefore) showFigures(incoming, evaluation, UNLIMITED, undefined, wallClock())
      try {
        const verdict = evaluate(incoming, evaluation)
        return isPromise(verdict) ? caught(verdict, incoming, evaluation) : verdict
      } catch (error) {
        return failed(error, incoming, evaluation)
      }
    },
    async peek(key) {
      return infoOf(await source.peek(key), shownKey(key), wallClock())
    },
    reset: (key) => source.reset(key),
  }
  return gate
}

type Evaluate<N extends FrameworkArgs> = (
  incoming: IncomingRequest<N>,
  evaluation: Evaluation,
) => MaybePromise<Verdict>

/** The same, and whoever observes hears how long each answer took. */
function timed<N extends FrameworkArgs>(
  evaluate: Evaluate<N>,
  { observe, name, domain = name }: GateSettings<N>,
): Evaluate<N> {
  if (observe === undefined) return evaluate
  const timing: Evaluate<N> = (incoming, evaluation) => {
    const began = performance.now()
    return andThen(evaluate(incoming, evaluation), (verdict) => {
      observe({ type: 'answered', domain, ms: performance.now() - began, layer: 'app' })
      return verdict
    })
  }
  return (incoming, evaluation) =>
    isListening(observe, 'answered') ? timing(incoming, evaluation) : evaluate(incoming, evaluation)
}

/** Whether functions of the options are called before the decision. */
function hasFunctions<N extends FrameworkArgs>(settings: GateSettings<N>): boolean {
  const { skip, key, address, cost, limit, plan, attributes, policies = {} } = settings
  const asked = [skip, key, address, cost, limit, plan, attributes]
  return [...asked, ...Object.values(policies).map((each) => each.limit)].some(
    (each) => typeof each === 'function',
  )
}

/** Costs by name are checked where the names are known. */
function checkedCosts(cost: number | CostByName): number | CostByName {
  return typeof cost === 'object' && cost !== null ? cost : checkedCost(cost)
}

/** The steps of one request: is it skipped, who calls, is the caller listed, what do the limits decide. */
function evaluator<N extends FrameworkArgs>({
  settings,
  source,
  findCaller,
  watch,
  denied,
  exempt,
}: GateParts<N>): Evaluate<N> {
  const { skip, cost = 1, wallClock } = settings
  const verdict = verdictMaker(settings, source)

  const decided: (incoming: IncomingRequest<N>, caller: Caller) => MaybePromise<Decision> =
    typeof cost !== 'function'
      ? (incoming, caller) => source.check(incoming, caller, cost)
      : (incoming, caller) =>
          andThen(maybePromise(cost(...incoming.args)), (cost) =>
            source.check(incoming, caller, checkedCosts(cost)),
          )

  const passed = (incoming: IncomingRequest<N>, evaluation: Evaluation, shown: string | undefined): Verdict =>
    plainVerdict(showFigures(incoming, evaluation, UNLIMITED, shown, wallClock()))

  const identified = (
    caller: Caller,
    incoming: IncomingRequest<N>,
    evaluation: Evaluation,
  ): MaybePromise<Verdict> => {
    const { shown, address, keyless } = caller
    watch?.(incoming, address)
    if (denied?.(shown, address)) {
      const info = showFigures(incoming, evaluation, DENIED, shown, wallClock())
      return plainVerdict(info, plainProblem(403, 'Forbidden', 'This caller is not admitted.'))
    }
    if (keyless === 'skip' || exempt?.(shown, address)) return passed(incoming, evaluation, shown)
    const decision = keyless === 'deny' ? KEYLESS : decided(incoming, caller)
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
      skipped ? passed(incoming, evaluation, undefined) : entered(incoming, evaluation),
    )
}
