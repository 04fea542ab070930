import type { Pipeline } from '@sluice/limiter/pipeline'
import { type Question, UnknownDomain } from '@sluice/limiter/pipeline'
import type { Store } from '@sluice/limiter/stores/store'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { type QuestionBody, questionOf, subjectFields } from '../http/question.ts'
import { HttpError } from '../problem.ts'
import { countersOf } from '../rules/counters.ts'
import type { LiveRules } from '../rules/live-rules.ts'
import { fields, text } from '../schema.ts'

interface ResetBody extends QuestionBody {
  readonly policy?: string
  readonly key?: string
}

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
  const body = fields({ ...subjectFields(bounds), policy: text(bounds), key: text(bounds) }, 'domain')
  app.post<{ Body: ResetBody }>('/v1/reset', { schema: { body } }, async (request) => {
    const { domain, policy, key, ...rest } = request.body
    const named = policy !== undefined && key !== undefined && Object.keys(rest).length === 0
    if (!named && (policy !== undefined || key !== undefined)) {
      throw new HttpError(400, 'the body must have policy and key, or a request or descriptors')
    }
    const { states, policies } = named
      ? ofPolicy(rules, domain, policy, key)
      : ofRequest(match, questionOf(request.body))
    await Promise.all(states.map((state) => store.reset(state)))
    return { reset: policies }
  })
}

function ofRequest(match: Pipeline<boolean>['match'], question: Question): Found {
  const { steps, subjects } = match(question)
  return { states: steps, policies: [...new Set(subjects.map(({ name }) => name))] }
}

function ofPolicy({ live }: LiveRules, domain: string, policy: string, key: string): Found {
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
