import { BadQuestion } from '@sluice/limiter/pipeline'
import { type Command, defineCommand } from '../command.ts'
import { accountOf } from '../explain/account.ts'
import { accountText } from '../explain/account-text.ts'
import { pastAccountOf } from '../explain/past-account.ts'
import { pastAccountText } from '../explain/past-account-text.ts'
import { questionFrom } from '../explain/question.ts'
import { readText } from '../input.ts'
import { TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { UsageError } from '../usage-error.ts'
import { DESCRIPTOR_OPTION } from './simulate.ts'

const MAX_REQUEST_BYTES = 1_048_576

/** Says which rules apply to a request, and why the others do not; of one of the past, why it was decided so. */
export const explain: Command = defineCommand({
  name: 'explain',
  summary: 'says which rules apply to a request, and why; or why one of the past was refused',
  operands: 'RULES…',
  options: {
    request: { type: 'string', value: 'FILE', help: 'the request, as JSON; - for standard input' },
    at: {
      type: 'string',
      value: 'TIME',
      help: 'the first request of the log at this time, such as 2026-01-31T10:05:03Z: a second, or less with decimals',
    },
    key: {
      type: 'string',
      value: 'KEY',
      help: 'the first that charges this key, as sluice simulate shows it; without --at, the first that is refused',
    },
    line: {
      type: 'string',
      value: 'TEXT',
      help: 'the request that this line of a record or a log tells of',
    },
    domain: { type: 'string', value: 'NAME', help: "which of the rulebook's domains, where it has several" },
    ...TRAFFIC_OPTIONS,
    ...DESCRIPTOR_OPTION,
    ...RULES_OPTIONS,
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
  },
  notes: `The request is what POST /v1/check takes: {"domain", "request": {"method", "path", "host", "ip",
"headers", "query", "attributes"}, "cost"}, or "descriptors": [{"entries": [{"key", "value"}]}] in place of
"request". "domain" may be left out where the rulebook has one. Figures are those of an empty store.

With --log, figures are those that a replay of the log up to the request gives: what was used before the
log begins is not known. Where it was refused, what would have let it pass is added: a wait, a smaller
cost, a higher limit. A line alone is explained with nothing used before it.`,
  async run(paths, values, io) {
    const { request, format, at, key, line, log } = values
    const isPast = [at, key, line, log].some((value) => value !== undefined)
    if (isPast && request !== undefined)
      throw new UsageError(
        '--request is a request of your own: it has no place beside --log, --at, --key, --line',
      )
    if (!isPast && request === undefined)
      throw new UsageError(
        'name the request: --request FILE, or --request - for standard input; or one of a log, by --log and --at',
      )
    const { domains, rules } = await loadRules(paths, values, io)
    const print = (account: object, text: string): 0 => {
      io.stdout.write(format === 'json' ? `${JSON.stringify(account, null, 2)}\n` : text)
      return 0
    }
    if (request === undefined) {
      const account = await pastAccountOf(domains, rules, values, io)
      return print(account, pastAccountText(account))
    }
    const name = request === '-' ? 'standard input' : request
    const question = questionFrom(await readText(request, MAX_REQUEST_BYTES, io), name)
    const domain = chooseDomain(domains, question.domain ?? values.domain, `"domain" in ${name}`)
    try {
      const account = accountOf(rules, { ...question, domain: domain.name })
      return print(account, accountText(account))
    } catch (error) {
      throw error instanceof BadQuestion ? new UsageError(`${name}: ${error.message}`) : error
    }
  },
})
