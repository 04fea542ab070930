import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OutboundOptions, OutboundRequest } from '@sluice/client'
import type { Store } from '@sluice/limiter'
import { createPipeline } from '@sluice/limiter/pipeline'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import { type Command, defineCommand, type Values } from '../command.ts'
import { numberIn, timeIn } from '../numbers.ts'
import { pageUrl } from '../pages.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { prepareStore, STORE_HELP, STORE_NOTES, storeUrl } from '../stores.ts'
import { untilSignal } from '../until-signal.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  egress: { type: 'boolean', help: 'for calls that go out, to an API of others; needed' },
  upstream: { type: 'string', value: 'URL', help: 'where the calls go; needed' },
  http: { type: 'string', value: 'HOST:PORT', help: 'default 127.0.0.1:8090; port 0: any that is free' },
  store: { type: 'string', value: 'URL', help: STORE_HELP },
  'max-wait': {
    type: 'string',
    value: 'TIME',
    help: 'the longest that a call waits for its turn; default 60s',
  },
  'max-waiting': { type: 'string', value: 'N', help: 'calls that wait at once; default 1000' },
  tokens: {
    type: 'string',
    value: 'POLICY',
    help: 'its cost is the tokens of a model: estimated, and then settled',
  },
  domain: { type: 'string', value: 'NAME', help: 'of the rulebook, where it has several' },
  ...RULES_OPTIONS,
} as const

/** A day, and as many calls as fit into 50 MB. */
const MOST_WAIT_MS = 86_400_000
const MOST_WAITING = 100_000

/** Keeps the limits of an API that programs in any language call through it. */
export const gateway: Command = defineCommand({
  name: 'gateway',
  summary: 'passes calls on to an API of others when its limits have room for them',
  operands: 'RULES…',
  options: OPTIONS,
  notes: `Programs call it instead of the API: set their base URL to its address. Each call waits for its turn;
one that would wait too long is answered by 429 at once. Rules read the API key's hash as attribute:key.
See ${pageUrl('outbound.md#in-any-language')}

${STORE_NOTES}`,
  async run(paths, values, io) {
    if (values.egress !== true)
      throw new UsageError('say --egress: a gateway for calls that come in is not there')
    const upstream = upstreamOf(values.upstream)
    const [host, port] = addressOf(values.http ?? '127.0.0.1:8090')
    const waits = waitsOf(values)
    const { domains, rules } = await loadRules(paths, values, io)
    const domain = chooseDomain(domains, values.domain, '--domain').name
    const { store, problem } = await prepareStore(await storeUrl(values.store, io), {})
    const wrong = await problem()
    if (wrong !== undefined) io.stderr.write(`sluice: the store does not answer yet: ${wrong}\n`)
    const { createOutbound, modelTokens } = await import('@sluice/client')
    const { callerHash, egressServer } = await import('../gateway/egress-server.ts')
    const shared = store.async ? new FallbackStore(store as Store<true>) : store
    const destination = {
      name: upstream.host,
      pipeline: createPipeline<boolean>({ rules: () => rules, store: shared }),
      domain,
      key: (request: OutboundRequest) => callerHash((name) => request.header(name)),
      ...(values.tokens !== undefined && modelTokens({ policy: values.tokens })),
    }
    const log = (line: string): void => void io.stderr.write(`${line}\n`)
    const limits = createOutbound({ destinations: [destination], ...waits, log })
    const stopped = untilSignal(io)
    const egress = egressServer({ upstream, limits })
    try {
      const own = await listening(egress.server, host, port)
      io.stderr.write(`Calls to http://${host}:${own} go to ${upstream.origin}\n`)
      await stopped
    } finally {
      await egress.close()
      await shared.close()
    }
    io.stdout.write(`${JSON.stringify(limits.counts())}\n`)
    return 0
  },
})

function waitsOf(values: Values<typeof OPTIONS>): Pick<OutboundOptions, 'maxWaitMs' | 'maxWaiting'> {
  const maxWaitMs = timeIn('max-wait', values['max-wait'], [0, MOST_WAIT_MS])
  const maxWaiting = numberIn('max-waiting', values['max-waiting'], [0, MOST_WAITING])
  return { ...(maxWaitMs !== undefined && { maxWaitMs }), ...(maxWaiting !== undefined && { maxWaiting }) }
}

function upstreamOf(text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new UsageError(
      '--upstream must be a URL such as https://api.example.com/v1, without user and query',
    )
  return url
}

function addressOf(text: string): readonly [host: string, port: number] {
  const [, host, port] = /^(?:\[?([^\]]+)\]?):(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) throw new UsageError('--http must be HOST:PORT')
  return [host, Number(port)]
}

function listening(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}
