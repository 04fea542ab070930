import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  asCheck,
  asRequest,
  isOwnTarget,
  restartBy,
  ruleCases,
  runDrill,
  STORE_FAILURES,
  type StoreFailure,
} from '@sluice/lab'
import { unknownName } from '../arguments.ts'
import { type Command, defineCommand } from '../command.ts'
import { drillTextOf, problemsIn } from '../drill/drill-text.ts'
import type { Io } from '../io.ts'
import { timeIn } from '../numbers.ts'
import { type RedisAddress, readRedisUrl } from '../redis-url.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { storeUrl } from '../stores.ts'
import { onSignals } from '../until-signal.ts'
import { UsageError } from '../usage-error.ts'

/** Lets the store of a limiter fail, and compares what it does with what its rules state. */
export const drill: Command = defineCommand({
  name: 'drill',
  summary: 'lets the store fail under load, and compares what each rule does with what it states',
  operands: '-- COMMAND',
  options: {
    store: { type: 'string', value: 'URL', help: 'a Redis: redis://HOST:PORT/DB; or SLUICE_STORE' },
    rules: {
      type: 'string',
      multiple: true,
      value: 'PATH',
      help: 'the rules that COMMAND keeps; may be given again',
    },
    domain: { type: 'string', value: 'NAME', help: 'only the limits of this domain' },
    target: {
      type: 'string',
      value: 'URL',
      help: 'where COMMAND answers, if it chooses its port itself; default /v1/check at SLUICE_HTTP',
    },
    'ip-header': {
      type: 'string',
      value: 'NAME',
      help: 'by which it takes the client’s address, if TARGET is no service',
    },
    failure: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: `${STORE_FAILURES.map(({ name }) => name).join(', ')}, restart; may be given again; default all`,
    },
    for: { type: 'string', value: 'TIME', help: 'how long each failure lasts; default 1s' },
    restart: {
      type: 'string',
      value: 'SHELL',
      help: 'a command that restarts the store; default: the relay plays it',
    },
    nodes: {
      type: 'string',
      value: 'N',
      choices: ['1', '2'],
      help: 'with 2, one is killed, one has another clock, and both reload; default 1',
    },
    'target-is-mine': {
      type: 'string',
      multiple: true,
      value: 'HOST',
      help: 'the store at this host is yours',
    },
    ...RULES_OPTIONS,
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
  },
  notes: `COMMAND is started with SLUICE_STORE, the address of a relay to the store, and with SLUICE_HTTP, PORT
and SLUICE_ADMIN, where it is to listen. The relay hangs, cuts, slows, half-opens, resets and restarts
what goes through it. Counters are written for keys that no real client has. Exit code 1 says that a rule
differs from what it states.`,
  async run(command, values, io) {
    if (command.length === 0)
      throw new UsageError('name the command behind --, such as -- npx sluice serve rules')
    const url = await storeUrl(values.store, io)
    const store = storeAt(url, values['target-is-mine'] ?? [])
    const { domains, rules } = await loadRules(values.rules ?? [], values, io)
    const chosen = values.domain === undefined ? domains : [chooseDomain(domains, values.domain, '--domain')]
    const target = targetIn(values.target)
    if (values.nodes === '2' && target !== undefined)
      throw new UsageError('--nodes 2 has no --target: two nodes have two ports')
    const isCheck = target === undefined || target.pathname.endsWith('/v1/check')
    const { cases, passed } = ruleCases(
      rules,
      chosen,
      isCheck ? asCheck('/v1/check') : asRequest(values['ip-header']),
    )
    if (cases.length === 0) throw new UsageError('no limit of the rules can be tried')
    const failures = failuresIn(values.failure, values.restart)
    const leaving = new AbortController()
    const leave = (): void => leaving.abort()
    const endSignals = onSignals(io, leave)
    const prefix = `drill${randomBytes(4).toString('hex')}-`
    let keys = randomBytes(2).readUInt16LE()
    try {
      const report = await runDrill({
        store,
        command,
        env: (relay, port) => environment(io, url, relay, port),
        port: target && Number(target.port || 80),
        nodes: values.nodes === '2' ? 2 : 1,
        isCheck,
        cases,
        failures,
        failMs: timeIn('for', values.for, [500, 60_000]) ?? 1_000,
        freshKey: () => `${prefix}${keys++}`,
        signal: leaving.signal,
        progress: (text) => {
          if (io.stderr.isTTY) io.stderr.write(`${text}\n`)
        },
      }).catch((error: Error) => {
        throw new UsageError(error.message)
      })
      const whole = { ...report, passed: [...passed, ...report.passed] }
      const problems = problemsIn(whole)
      io.stdout.write(
        values.format === 'json'
          ? `${JSON.stringify({ ...whole, problems }, null, 2)}\n`
          : drillTextOf(whole),
      )
      return problems.length > 0 ? 1 : 0
    } finally {
      endSignals()
    }
  },
})

/** @throws UsageError for what is no single Redis, or is somebody else's */
function storeAt(url: string, mine: readonly string[]): RedisAddress['hosts'][number] {
  const address = readRedisUrl(url)
  if (address === undefined || address.kind !== 'single' || address.tls)
    throw new UsageError('name the store: --store must be one Redis without TLS, as redis://HOST:PORT/DB')
  const [at] = address.hosts
  if (!isOwnTarget(`http://${at!.host.includes(':') ? `[${at!.host}]` : at!.host}`, mine))
    throw new UsageError(
      `${at!.host} is not this machine: if the store is yours, say so with --target-is-mine ${at!.host}`,
    )
  return at!
}

/** @throws UsageError */
function targetIn(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname)) return url
  throw new UsageError('--target must be a URL of this machine, such as http://127.0.0.1:3000/')
}

/** @throws UsageError */
function failuresIn(
  names: readonly string[] | undefined,
  restart: string | undefined,
): readonly StoreFailure[] {
  const all = [...STORE_FAILURES, restartBy(restart === undefined ? undefined : () => shell(restart))]
  const known = all.map(({ name }) => name)
  for (const name of names ?? [])
    if (!known.includes(name)) throw new UsageError(unknownName('failure', name, known))
  return all.filter(({ name }) => names?.includes(name) ?? true)
}

async function shell(command: string): Promise<void> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new UsageError(`--restart ended with ${code}`)
}

/** The relay's address has the user, the password and the database of the store's. */
function environment({ env }: Io, url: string, relay: number, port: number): Io['env'] {
  const SLUICE_STORE = url.replace(/^(redis:\/\/(?:[^@/]*@)?)[^/]+/, `$1127.0.0.1:${relay}`)
  return {
    ...env,
    SLUICE_STORE,
    SLUICE_STORE_FILE: undefined,
    SLUICE_HTTP: `127.0.0.1:${port}`,
    SLUICE_ADMIN: '127.0.0.1:0',
    PORT: `${port}`,
  }
}
