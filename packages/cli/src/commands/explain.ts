import { BadQuestion } from '@sluice/limiter/pipeline'
import { type Command, defineCommand } from '../command.ts'
import { accountOf } from '../explain/account.ts'
import { accountText } from '../explain/account-text.ts'
import { questionFrom } from '../explain/question.ts'
import { readText } from '../input.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { UsageError } from '../usage-error.ts'

const MAX_REQUEST_BYTES = 1_048_576

/** Says which rules apply to a request, and why the others do not. */
export const explain: Command = defineCommand({
  name: 'explain',
  summary: "says which rules apply to a request, why the others don't, and with what figures",
  operands: 'RULES…',
  options: {
    request: { type: 'string', value: 'FILE', help: 'the request, as JSON; - for standard input' },
    ...RULES_OPTIONS,
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
  },
  notes: `The request is what POST /v1/check takes: {"domain", "request": {"method", "path", "host", "ip",
"headers", "query", "attributes"}, "cost"}, or "descriptors": [{"entries": [{"key", "value"}]}] in place of
"request". "domain" may be left out where the rulebook has one. Figures are those of an empty store.`,
  async run(paths, values, io) {
    const { request, format } = values
    if (request === undefined)
      throw new UsageError('name the request: --request FILE, or --request - for standard input')
    const { domains, rules } = await loadRules(paths, values, io)
    const name = request === '-' ? 'standard input' : request
    const question = questionFrom(await readText(request, MAX_REQUEST_BYTES, io), name)
    const domain = chooseDomain(domains, question.domain, `"domain" in ${name}`)
    try {
      const account = accountOf(rules, { ...question, domain: domain.name })
      io.stdout.write(format === 'json' ? `${JSON.stringify(account, null, 2)}\n` : accountText(account))
      return 0
    } catch (error) {
      throw error instanceof BadQuestion ? new UsageError(`${name}: ${error.message}`) : error
    }
  },
})
