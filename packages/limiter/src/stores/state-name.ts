import type { Step } from '../core/decide/step.ts'

/** Names the state that a step is about: policies and kinds hold no NUL, so no two share a name. */
export function stateNameOf({ policy, plan, key }: Pick<Step, 'plan' | 'policy' | 'key'>): string {
  return `${policy}\0${plan.kind}\0${key}`
}
