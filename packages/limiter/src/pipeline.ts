import type { Decision } from './core/decide/decision.ts'
import type { Rules } from './core/match/compile.ts'
import { type DescriptorQuery, matchDescriptors } from './core/match/descriptors.ts'
import { type Matched, matchRequest } from './core/match/match.ts'
import type { Request } from './core/request.ts'
import { dialectsOf } from './core/respond/dialects.ts'
import { type RespondOptions, type Reply as Response, respondTo } from './core/respond/respond.ts'
import { decide, next } from './engine.ts'
import type { Observer } from './observe/events.ts'
import type { Answer, Store } from './stores/store.ts'

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
  readonly response: Response
}

export interface PipelineOptions<Async extends boolean> {
  /** Asked for each request, so that a reload is one assignment. */
  readonly rules: () => Rules
  readonly store: Store<Async>
  readonly respond?: Omit<RespondOptions, 'nowMs'>
  readonly observe?: Observer
  /** Wall clock for headers that carry dates, milliseconds since the epoch. Default `Date.now`. */
  readonly wallClock?: () => number
}

export interface Pipeline<Async extends boolean> {
  /** Which rules a request meets, decided by nobody. @throws BadQuestion, UnknownDomain */
  match(question: Question): Matched
  /**
   * Decides one request. With `peek` it only looks.
   * @throws BadQuestion when the request cannot be judged as it stands; UnknownDomain
   */
  handle(question: Question, peek?: boolean): Answer<Async, Reply>
}

/** The whole story: whose request is it, which rules meet it, what do they say, who is told what. */
export function createPipeline<Async extends boolean>(options: PipelineOptions<Async>): Pipeline<Async> {
  const { rules, store, respond = {}, observe = () => undefined, wallClock = Date.now } = options
  const dialect = dialectsOf(respond.dialect ?? 'ietf') // a wrong one is the configuration's mistake, not a request's
  return {
    match: (question) => match(rules(), question),
    handle(question, peek = false) {
      // Identify and match: which limits apply, and under which keys.
      const matched = match(rules(), question)
      for (const policy of matched.missing) observe({ type: 'key-missing', domain: question.domain, policy })

      // Decide: all of them at once, or none.
      return next(decide(store, matched, peek), (decision) => {
        // Respond: what the client is told.
        const response = respondTo(decision, {
          ...respond,
          dialect,
          ...told(question, matched, decision),
          nowMs: wallClock(),
        })

        // Observe: what everyone else is told.
        observe({ type: 'decided', domain: question.domain, decision, subjects: matched.subjects, peek })
        return { decision, matched, response }
      })
    },
  }
}

/** What the answer to this request depends on beside the decision: its cost, and how much later its key may return. */
function told(
  { cost = 1 }: Question,
  { steps, subjects }: Matched,
  decision: Decision,
): Partial<RespondOptions> {
  const bound = subjects.findIndex(({ name }) => name === decision.policy)
  const share = subjects[bound]?.jitter
  return share === undefined ? { cost } : { cost, jitter: { share, key: steps[bound]!.key, seed: 0 } }
}

/** The caller's mistake: HTTP 400. */
export class BadQuestion extends TypeError {}

/** No rules are loaded for that domain: HTTP 404. */
export class UnknownDomain extends TypeError {}

function match(rules: Rules, { domain, request, descriptors, cost }: Question): Matched {
  if (!rules.domains.has(domain))
    throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
  const matched =
    descriptors === undefined
      ? matchRequest(rules, domain, request ?? {}, cost)
      : matchDescriptors(rules, domain, descriptors, cost)
  if (matched.problem !== undefined) throw new BadQuestion(matched.problem)
  return matched
}
