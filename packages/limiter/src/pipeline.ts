import { BadQuestion, UnknownDomain } from './bad-question.ts'
import { type ActualCost, bindingStep } from './core/decide/charges.ts'
import type { Decision } from './core/decide/decision.ts'
import type { Matched, Rules } from './core/match/compiled-rules.ts'
import { type DescriptorQuery, matchDescriptors } from './core/match/descriptors.ts'
import { matchRequest } from './core/match/match.ts'
import { type CallFields, checkCall, checkOptions, func, type OptionCheck, objectOf } from './core/options.ts'
import type { Request } from './core/request.ts'
import { writersOf } from './core/respond/dialect-writers.ts'
import { respondFields } from './core/respond/respond.ts'
import { type LimitResponse, type RespondOptions, responseTo } from './core/respond/response.ts'
import { createEngine, type Engine } from './engine.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import type { Observer } from './observe/events.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { type Once, type Store, storeCheck } from './stores/store.ts'

export { BadQuestion, UnknownDomain }

/** One request, in either of the two formats that rules are written in. */
export interface Question {
  readonly domain: string
  readonly request?: Request
  readonly descriptors?: readonly DescriptorQuery[]
  /** For rules that state no cost of their own; default 1. */
  readonly cost?: number
}

export interface Reply<M extends Matched = Matched> {
  readonly decision: Decision
  readonly matched: M
  /** Status, headers and body, as the client should see them. */
  readonly response: LimitResponse
}

/** A reply, and what settles its charge. */
export interface ReservedReply<Async extends boolean = boolean> extends Reply {
  readonly reservation: Reservation<Async>
  readonly once: Once
}

export interface PipelineOptions<Async extends boolean> {
  /** Called for each request, so that a reload is one assignment. */
  readonly rules: () => Rules
  readonly store: Store<Async>
  /** How answers are put into headers. */
  readonly respond?: Omit<RespondOptions, 'nowMs' | 'cost'>
  readonly observe?: Observer
  /** Wall clock for headers that carry dates, milliseconds since the epoch. Default `Date.now`. */
  readonly wallClock?: () => number
}

const { nowMs: _now, cost: _cost, ...fixedRespondFields } = respondFields

/** What `respond` of a pipeline may be: what does not differ from request to request. */
export const respondCheck: OptionCheck =
  /* @__PURE__ */ objectOf<NonNullable<PipelineOptions<boolean>['respond']>>(fixedRespondFields)

const OPTIONS = /* @__PURE__ */ objectOf<PipelineOptions<boolean>>(
  { rules: func, store: storeCheck, respond: respondCheck, observe: func, wallClock: func },
  ['rules', 'store'],
  { what: 'an object with rules and store' },
)

/**
 * Decides requests by rules. Every verb throws BadQuestion for a request that cannot be decided as it stands, and
 * UnknownDomain where no rules are loaded for its domain; a name that a question does not have is a TypeError.
 */
export interface Pipeline<Async extends boolean> {
  /** Which rules apply to a request, and which counters it would charge; nothing is decided. */
  match(question: Question): Matched
  /** Decides one request, and charges every rule if all admit. */
  check(question: Question): MaybePromise<Reply, Async>
  /** What `check` would answer; changes nothing. */
  peek(question: Question): MaybePromise<Reply, Async>
  /** As `check`, to be settled later. @param ttl milliseconds or text: how long it can be settled; default `1m` */
  reserve(question: Question, ttl?: number | string): MaybePromise<ReservedReply<Async>, Async>
  /** Gives back what a decision charged, or `amount` of it. */
  refund(decision: Decision, amount?: ActualCost): MaybePromise<boolean, Async>
  /** Forgets what the request's keys have used. @returns the names of the rules */
  reset(question: Question): MaybePromise<readonly string[], Async>
  /** Refuses the request's keys for `duration` (milliseconds or text), in rules that have a `block`. */
  block(question: Question, duration: number | string): MaybePromise<void, Async>
  /** Ends those blocks. */
  unblock(question: Question): MaybePromise<void, Async>
  /**
   * What the client sees of a decision that `engine` or a store made of what `match` found.
   * @param cost the request's; default 1
   */
  respond(decision: Decision, matched: Matched, cost?: number): Reply
  /** The rules in force. */
  readonly rules: () => Rules
  /** The verbs below rules: by steps and charges. */
  readonly engine: Engine<Async>
}

/**
 * The whole story: which keys does a request have, which rules apply, what do they decide, what does the client see.
 * @example
 * const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
 * const { decision, response } = pipeline.check({ domain: 'shop', request: { path: '/login', ip: '192.0.2.1' } })
 */
export function createPipeline<Async extends boolean>(options: PipelineOptions<Async>): Pipeline<Async> {
  checkOptions(options, OPTIONS)
  const { rules, store, respond = {}, observe, wallClock = Date.now } = options
  const dialect = writersOf(respond.dialect ?? 'ietf') // a wrong one is the configuration's mistake, not a request's
  const engine = createEngine(store, observe)

  // Identify and match: which limits apply, and under which keys.
  const matched = (question: Question): Matched => {
    const found = match(rules(), question)
    if (observe !== undefined) {
      for (const policy of found.missing) observe({ type: 'key-missing', domain: question.domain, policy })
    }
    return found
  }
  // Respond: what the client sees.
  const respondTo = (decision: Decision, matched: Matched, cost = 1): Reply => {
    const bound = bindingStep(decision)
    const share = bound?.rule.jitter
    const jitter = share === undefined ? undefined : { jitter: { share, key: bound!.key, seed: 0 } }
    const retryAfter = bound?.rule.retryAfter
    const response = responseTo(decision, dialect, {
      ...respond,
      cost,
      ...jitter,
      ...(retryAfter !== undefined && { retryAfter }),
      nowMs: wallClock(),
    })
    return { decision, matched, response }
  }
  // Decide: all of them at once, or none. The engine reports to the observer.
  const decide = (question: Question, peek: boolean): MaybePromise<Reply, Async> => {
    const found = matched(question)
    return andThen<Decision, Reply, Async>(
      engine.decide(question.domain, found.steps, peek, question.request),
      (decision) => respondTo(decision, found, question.cost),
    )
  }
  return {
    engine,
    rules,
    respond: respondTo,
    match: (question) => match(rules(), question),
    check: (question) => decide(question, false),
    peek: (question) => decide(question, true),
    reserve(question, ttl = '1m') {
      const found = matched(question)
      return andThen(
        engine.reserve(question.domain, found.steps, ttl, question.request),
        ({ decision, once }) => ({
          ...respondTo(decision, found, question.cost),
          reservation: reservationOf(engine, question.domain, decision, once),
          once,
        }),
      ) as MaybePromise<ReservedReply<Async>, Async>
    },
    refund: (decision, amount) => engine.refund('', decision, amount),
    reset(question) {
      const { steps } = match(rules(), question)
      const names = [...new Set(steps.map(({ rule }) => rule.name))]
      return andThen<void, readonly string[], Async>(engine.reset(steps), () => names)
    },
    block: (question, duration) => engine.block(match(rules(), question).steps, duration),
    unblock: (question) => engine.block(match(rules(), question).steps, 0),
  }
}

/** What a question may have: `''` for what is checked where it is used. */
const QUESTION: CallFields = new Map([
  ['domain', ''],
  ['request', 'object'],
  ['descriptors', 'object'],
  ['cost', ''],
])

function match(rules: Rules, question: Question): Matched {
  checkCall(question, QUESTION)
  const { domain, request, descriptors, cost } = question
  if (!rules.domains.has(domain))
    throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
  const matched =
    descriptors === undefined
      ? matchRequest(rules, domain, request ?? {}, cost)
      : matchDescriptors(rules, domain, descriptors, cost)
  if (matched.problem !== undefined) throw new BadQuestion(matched.problem)
  return matched
}
