import type { MockLimiter } from '@sluice/client/testing'
import { type LimiterPolicy, MemoryStore } from '@sluice/limiter'
import { type AlgorithmName, algorithms } from '@sluice/limiter/algorithms'
import { createPipeline } from '@sluice/limiter/pipeline'
import { type Command, defineCommand, type Values } from '../command.ts'
import type { Io } from '../io.ts'
import { pageUrl } from '../pages.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { untilSignal } from '../until-signal.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  limit: {
    type: 'string',
    multiple: true,
    value: 'LIMIT',
    help: 'COUNT/PERIOD such as 100/second, or NAME=COUNT/PERIOD; may be repeated; default 10/2s',
  },
  burst: { type: 'string', value: 'N', help: 'of buckets: units at once; default: the count' },
  algorithm: {
    type: 'string',
    value: 'NAME',
    choices: Object.keys(algorithms),
    help: 'default fixed-window, or token-bucket with --burst',
  },
  dialect: { type: 'string', multiple: true, value: 'NAME', help: 'headers of answers; default ietf' },
  status: { type: 'string', value: 'N', help: 'of refusals, 400 to 599; default 429' },
  'retry-after': {
    type: 'string',
    value: 'FORM',
    choices: ['seconds', 'date', 'none'],
    help: 'how Retry-After is written; default seconds',
  },
  fault: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    help: 'what goes wrong, such as html=0.5; may be repeated',
  },
  port: { type: 'string', value: 'N', help: 'of 127.0.0.1; default: any that is free' },
  domain: { type: 'string', value: 'NAME', help: 'of the rulebook, where it has several' },
  ...RULES_OPTIONS,
} as const

/** Plays a limited API, for tests of clients. */
export const mock: Command = defineCommand({
  name: 'mock',
  summary: 'plays a limited API, in any dialect and with faults, to test clients against',
  operands: '[RULES…]',
  options: OPTIONS,
  notes: `Every path answers. The limits are those of a rulebook, or of --limit; with that, calls are counted by
their Authorization or X-Api-Key header. Dialects are those of serve, and discord, openai, anthropic,
gitlab, envoy, none.

Faults: bare, html, cut, slow, lost (shares from 0 to 1), slowMs, skewMs (milliseconds), lie (plenty,
soon, never, nonsense), noDate (true). GET /__count says what was received, admitted, refused, and
called too early; POST /__reset counts from 0; POST /__refuse?ms=2000 refuses all for a time. SIGINT
(Ctrl-C) ends it, and prints the count. See
${pageUrl('retries.md#a-limited-api-for-tests')}`,
  async run(paths, values, io) {
    const { startMock } = await import('@sluice/client/testing')
    const stopped = untilSignal(io)
    // What these may be is checked by the mock itself.
    const server = await startMock({
      ...(paths.length > 0
        ? { limiter: await limiterOf(paths, values, io) }
        : { policies: policiesOf(values) }),
      faults: Object.fromEntries((values.fault ?? []).map(faultOf)),
      ...(values.dialect !== undefined && { dialect: values.dialect as never }),
      ...(values['retry-after'] !== undefined && { retryAfter: values['retry-after'] as never }),
      ...(values.status !== undefined && { status: Number(values.status) }),
      ...(values.port !== undefined && { port: Number(values.port) }),
    })
    try {
      io.stderr.write(`A limited API on ${server.url}: try\n  curl -i ${server.url}/\n`)
      await stopped
      io.stdout.write(`${JSON.stringify(server.count)}\n`)
    } finally {
      await server.close()
    }
    return 0
  },
})

async function limiterOf(
  paths: readonly string[],
  values: Values<typeof OPTIONS>,
  io: Io,
): Promise<MockLimiter> {
  for (const name of ['limit', 'burst', 'algorithm'] as const)
    if (values[name] !== undefined) throw new UsageError(`--${name} has no effect beside a rulebook`)
  const { domains, rules } = await loadRules(paths, values, io)
  const domain = chooseDomain(domains, values.domain, '--domain').name
  const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
  return {
    decide: ({ method, path, headers }) =>
      pipeline.check({ domain, request: { method, path, headers, ip: '127.0.0.1' } }).decision,
    release: (decision) => pipeline.refund(decision, 0),
  }
}

function policiesOf({
  limit = ['10/2s'],
  burst,
  algorithm,
}: Values<typeof OPTIONS>): Record<string, LimiterPolicy> {
  const name = algorithm ?? (burst === undefined ? 'fixed-window' : 'token-bucket')
  const rest = { algorithm: name as AlgorithmName, ...(burst !== undefined && { burst: Number(burst) }) }
  return Object.fromEntries(
    limit.map((text) => {
      const [, own = 'requests', count, period] = /^(?:([^=]*)=)?(\d+)\/(.+)$/.exec(text) ?? []
      if (count === undefined || period === undefined)
        throw new UsageError(`--limit must be COUNT/PERIOD, such as 100/second, not ${JSON.stringify(text)}`)
      return [own, { ...rest, limit: Number(count), period } as LimiterPolicy]
    }),
  )
}

function faultOf(text: string): [string, number | boolean | string] {
  const [, name, value] = /^(\w+)=(.+)$/.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`--fault must be NAME=VALUE, such as html=0.5, not ${JSON.stringify(text)}`)
  if (value === 'true' || value === 'false') return [name, value === 'true']
  return [name, Number.isNaN(Number(value)) ? value : Number(value)]
}
