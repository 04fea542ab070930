import { type Pipeline, type Question, UnknownDomain } from '@sluice/limiter/pipeline'
import type { Store } from '@sluice/limiter/stores/store'
import { type PolicyKey, readReset } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { HttpError } from '../problem.ts'
import { countersOf } from '../rules/counters.ts'
import type { LiveRules } from '../rules/live-rules.ts'

/** States, and the names of the policies that they belong to. */
interface Found {
  readonly states: readonly Parameters<Store['reset']>[0][]
  readonly policies: readonly string[]
}

/**
 * `POST /v1/reset`: forgets what one key has used, and its blocks: in every policy that a request meets, or in the
 * policy named, with the key as `sluice explain` shows it.
 */
export function resetRoute(
  app: App,
  rules: LiveRules,
  match: Pipeline<boolean>['match'],
  store: Store,
  bounds: Bounds,
): void {
  app.post('/v1/reset', async ({ body }) => {
    const asked = readReset(body, bounds)
    const { states, policies } = 'policy' in asked ? ofPolicy(rules, asked) : ofRequest(match, asked)
    await Promise.all(states.map((state) => store.reset(state)))
    return { reset: policies }
  })
}

function ofRequest(match: Pipeline<boolean>['match'], question: Question): Found {
  const { steps, subjects } = match(question)
  return { states: steps, policies: [...new Set(subjects.map(({ name }) => name))] }
}

function ofPolicy({ live }: LiveRules, { domain, policy, key }: PolicyKey): Found {
  const compiled = live?.rules.domains.get(domain)
  const model = live?.domains.get(domain)
  if (compiled === undefined || model === undefined) {
    throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
  }
  const counters = countersOf(compiled, model.domain, policy)
  if (counters.length === 0)
    throw new HttpError(404, `the domain has no policy ${JSON.stringify(policy.slice(0, 100))}`)
  return { states: counters.map((counter) => ({ ...counter, key })), policies: [policy] }
}
