import { BadQuestion, UnknownDomain } from '../../../bad-question.ts'
import { ConfigError } from '../../../core/errors.ts'
import type { Rules } from '../../../core/match/compiled-rules.ts'
import type { Request } from '../../../core/request.ts'
import { createEngine } from '../../../engine.ts'
import { andThen, type MaybePromise, maybePromise } from '../../../maybe-promise.ts'
import type { Step, Store } from '../../../stores/store.ts'
import { factsRequest } from '../facts-request.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { GateSettings } from '../options/settings.ts'
import type { LimitSource } from './limit-source.ts'

/** Decisions by rules, which find out by themselves which keys a request has, and how many limits apply. */
export function fromRules<N extends FrameworkArgs>(settings: GateSettings<N>, store: Store): LimitSource<N> {
  const { rules, domain, attributes, observe } = settings
  if (domain === undefined) throw new ConfigError('rules need a domain', { path: ['domain'] })
  const current = typeof rules === 'function' ? rules : (): Rules => rules!
  if (!current().domains.has(domain))
    throw new ConfigError(`the rules have no domain ${JSON.stringify(domain)}`, { path: ['domain'] })
  const engine = createEngine(store, observe)
  // The rules bring what matches them: a bundle without rules has none of it.
  const matched = (request: Request, cost: number): readonly Step[] => {
    const rules = current()
    if (!rules.domains.has(domain))
      throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
    const { steps, missing, problem } = rules.matchRequest(domain, request, cost)
    if (problem !== undefined) throw new BadQuestion(problem)
    for (const policy of missing) observe?.({ type: 'key-missing', domain, policy })
    return steps
  }
  const unavailable = (): never => {
    throw new ConfigError(
      "getKey and resetKey are not available with rules: use the service's reset, or the pipeline's",
    )
  }
  return {
    check(incoming, { address }, cost) {
      if (typeof cost !== 'number')
        throw new ConfigError('with rules, cost is a number; a rule can have a cost of its own', {
          path: ['cost'],
        })
      const request = factsRequest(incoming, address)
      const known: MaybePromise<Request> = andThen(
        maybePromise(attributes?.(...incoming.args)),
        (own): Request => (own === undefined ? request : { ...request, attributes: own }),
      )
      return andThen(known, (request) => engine.decide(domain, matched(request, cost), false, request))
    },
    settle: (decision, actual) => engine.settle(domain, decision, actual),
    peek: unavailable,
    reset: unavailable,
    holds: true, // other rules may come
  }
}
