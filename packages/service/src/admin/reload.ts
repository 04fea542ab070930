import { RulebookError } from '@sluice/rulebook'
import type { App } from '../app.ts'
import type { Operations } from '../operations/operations.ts'
import { PROBLEM_TYPE, problem } from '../problem.ts'
import type { LiveRules } from '../rules/live-rules.ts'

/** `POST /v1/reload`: reads the rulebook again; 422, and the old rules stay, when it has a mistake. */
export function reloadRoute(app: App, operations: Operations, rules: LiveRules): void {
  app.post('/v1/reload', { config: { emptyBody: true } }, async (_request, reply) => {
    const reload = await operations.reload()
    if (reload.result !== 'refused') return { result: reload.result, version: rules.live!.version }
    const problems = reload.error instanceof RulebookError ? reload.error.problems : []
    return reply
      .code(422)
      .type(PROBLEM_TYPE)
      .send({ ...problem(422, reload.error.message), problems })
  })
}
