import type { Rule } from '@sluice/limiter/decide'
import { ConfigError } from '@sluice/limiter/errors'
import { type Pipeline, UnknownDomain } from '@sluice/limiter/pipeline'
import { descriptorRules, limitRules, type Rules } from '@sluice/limiter/rules'
import { type KeyVerbs, keyVerbs, type NamedKey } from '@sluice/observe/parts'
import { OperationError } from './operation-error.ts'

/** The verbs for one key of a policy of the rules in force. Faults are thrown as OperationError or UnknownDomain. */
export function oneKeyVerbs({ engine }: Pipeline<boolean>, rules: () => Rules): KeyVerbs {
  const verbs = keyVerbs(engine, (named) => rulesNamed(rules(), named))
  return {
    ...verbs,
    async blockKey(named, duration) {
      try {
        await verbs.blockKey(named, duration)
      } catch (error) {
        throw error instanceof ConfigError ? new OperationError('invalid', error.message) : error
      }
    },
  }
}

function rulesNamed({ domains }: Rules, { domain, policy }: NamedKey): readonly Rule[] {
  const compiled = domains.get(domain)
  if (compiled === undefined)
    throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
  const rules = [...limitRules(compiled), ...descriptorRules(compiled)].filter(({ name }) => name === policy)
  if (rules.length === 0)
    throw new OperationError('unknown', `the domain has no policy ${JSON.stringify(policy.slice(0, 100))}`)
  return rules
}
