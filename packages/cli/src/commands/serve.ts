import { ConfigError, MemoryStore, type MemoryStoreOptions } from '@sluice/limiter'
import { type DialectName, dialects } from '@sluice/limiter/respond'
import { type Command, defineCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { loadRules, RULES_OPTIONS } from '../rules.ts'
import { secretOf } from '../secrets.ts'
import { authOptions } from '../serve/auth-options.ts'
import { bannerOf } from '../serve/banner.ts'
import { grpcOptions } from '../serve/grpc-options.ts'
import { samplesOf } from '../serve/sample.ts'
import { openStore, STORE_HELP, STORE_NOTES, storeUrl } from '../stores.ts'
import { UsageError } from '../usage-error.ts'

type MemoryCaps = Pick<MemoryStoreOptions, 'maxKeys' | 'maxBytes'>

const LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
const DEFAULT_RULES = 'rulebook.yaml'

/** Runs the service until it is stopped. */
export const serve: Command = defineCommand({
  name: 'serve',
  summary: 'runs the service',
  operands: '[RULES…]',
  options: {
    store: { type: 'string', value: 'URL', help: `where counters are kept: ${STORE_HELP}` },
    'max-keys': { type: 'string', value: 'N', help: 'most keys held in memory; default 10000000' },
    'max-bytes': {
      type: 'string',
      value: 'SIZE',
      help: 'most memory for them: bytes, 200MB, 64MiB, or a share of the heap; default 25%',
    },
    http: { type: 'string', value: 'HOST:PORT', help: 'address of the API; default 127.0.0.1:8080' },
    grpc: {
      type: 'string',
      value: 'ADDRESS',
      help: 'HOST:PORT or unix:PATH for Envoy’s rate limit service; default: it is not spoken',
    },
    'grpc-deadline': {
      type: 'string',
      value: 'TIME',
      help: 'for how long a call is decided that does not say how long it waits; default 15ms',
    },
    'grpc-cert': { type: 'string', value: 'FILE', help: 'certificate for gRPC, in PEM' },
    'grpc-key': { type: 'string', value: 'FILE', help: 'its key' },
    'grpc-client-ca': {
      type: 'string',
      value: 'FILE',
      help: 'who signs the certificates that clients must show',
    },
    'grpc-client-name': { type: 'string', value: 'NAME', help: 'a name that they must have' },
    admin: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'for operators, without a password; default 127.0.0.1:6070',
    },
    'admin-host': {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'a further name of the admin address, such as sluice.internal; may be given again',
    },
    trusted: {
      type: 'string',
      multiple: true,
      value: 'CIDR',
      help: 'address or network of a proxy that asks /auth and says who the client is; may be given again',
    },
    'auth-deadline': {
      type: 'string',
      value: 'TIME',
      help: 'how long /auth waits for a shared store, then on_store_error decides; default and most 50ms',
    },
    dialect: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      choices: Object.keys(dialects),
      help: `headers in answers: ${Object.keys(dialects).join(', ')}; default ietf; may be given again`,
    },
    'retry-after': {
      type: 'string',
      value: 'FORM',
      choices: ['seconds', 'date'],
      help: 'how Retry-After is written: seconds (default) or date',
    },
    tarpit: {
      type: 'string',
      value: 'TIME',
      help: 'for how long answers that refuse are held back, such as 2s; at most 1m; default: not at all',
    },
    'log-level': {
      type: 'string',
      value: 'LEVEL',
      choices: LEVELS,
      help: `${LEVELS.join(', ')}; default info`,
    },
    ...RULES_OPTIONS,
    watch: { type: 'boolean', help: 'reload when the rules change (default)' },
    'no-watch': { type: 'boolean', help: 'reload on SIGHUP and POST /v1/reload alone' },
  },
  notes: `RULES are YAML files, and folders of them, taken as one rulebook; default ${DEFAULT_RULES}.

SIGHUP reloads; with any mistake in the rules those in force stay. SIGTERM and SIGINT answer what is in
flight and stop; a second one cuts it off.

${STORE_NOTES}

SLUICE_SECRET, or a file that SLUICE_SECRET_FILE names, encrypts reservations and keys the hashes of API
keys. Nodes that share a store must share it.`,
  flushMs: 1_000,
  async run(operands, values, io) {
    const { createService } = await import('@sluice/service') // others need not wait for it
    const paths = operands.length > 0 ? operands : [DEFAULT_RULES]
    const { domains, rules } = await loadRules(paths, values, io)
    const secret = await secretOf('SLUICE_SECRET', io)
    const warn = (message: string): void => void io.stderr.write(`sluice: ${message}\n`)
    const caps = capsOf(values['max-keys'], values['max-bytes'])
    const store = await openStore(await storeUrl(values.store, io), undefined, warn, caps)
    const { http, admin, dialect } = values
    try {
      const service = createService({
        rules: paths,
        store,
        fallback: { local: caps },
        watch: values['no-watch'] !== true,
        calendarMonths: values['calendar-months'] ?? false,
        ...(values['admin-host'] !== undefined && { adminHosts: values['admin-host'] }),
        ...(http !== undefined && { http }),
        ...(admin !== undefined && { admin }),
        ...grpcOptions(values, warn),
        respond: {
          ...(dialect !== undefined && { dialect: dialect as DialectName[] }),
          ...(values['retry-after'] !== undefined && {
            retryAfter: values['retry-after'] as 'seconds' | 'date',
          }),
        },
        auth: authOptions(values, warn),
        ...(values.tarpit !== undefined && { tarpit: values.tarpit }),
        ...(secret !== undefined && { secret }),
        log: { level: (values['log-level'] ?? 'info') as (typeof LEVELS)[number], stream: io.stdout },
      })
      const addresses = await service.start()
      const stopped = untilStopped(service, io) // signals may arrive as soon as the banner is printed
      io.stderr.write(bannerOf(addresses, samplesOf(domains, rules)))
      await stopped
      return 0
    } finally {
      await store.close()
    }
  },
})

/** For the store in memory, or for what stands in for a shared one. */
function capsOf(keys: string | undefined, maxBytes: string | undefined): MemoryCaps {
  const maxKeys = keys === undefined ? undefined : /^\d+$/.test(keys) ? Number(keys) : Number.NaN
  const caps = { ...(maxKeys !== undefined && { maxKeys }), ...(maxBytes !== undefined && { maxBytes }) }
  try {
    void new MemoryStore(caps)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new UsageError(error.message.replace('maxKeys', '--max-keys').replace('maxBytes', '--max-bytes'))
  }
  return caps
}

interface Running {
  stop(): Promise<void>
  reload(): Promise<unknown>
}

/** Every signal asks the service to stop; asked twice, it hurries. */
async function untilStopped(service: Running, io: Io): Promise<void> {
  const reload = (): void => void service.reload()
  let stop = (): void => undefined
  const stopped = new Promise<void>((resolve, reject) => {
    stop = () => void service.stop().then(resolve, reject)
  })
  io.on('SIGHUP', reload)
  io.on('SIGTERM', stop)
  io.on('SIGINT', stop)
  try {
    await stopped
  } finally {
    io.off('SIGHUP', reload)
    io.off('SIGTERM', stop)
    io.off('SIGINT', stop)
  }
}
