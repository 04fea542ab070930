import { ConfigError } from '@sluice/limiter/errors'
import { checkOptions } from '@sluice/limiter/options'
import type { Domain, Rules } from '@sluice/limiter/rules'
import { everySecond, LOOPBACK } from '@sluice/observe/parts'
import { addressOf, DEFAULT_ADMIN, DEFAULT_HTTP, grpcAddressOf, type ListenAddress } from './address.ts'
import type { App } from './app.ts'
import { assemble } from './assemble.ts'
import { type Drain, drain } from './drain.ts'
import type { GrpcServer } from './grpc/grpc-server.ts'
import { listen } from './listen.ts'
import type { Reload } from './rules/live-rules.ts'
import { RulesWatcher } from './rules/rules-watcher.ts'
import { type ServiceOptions, serviceOptions } from './service-options.ts'
import type { XdsRules } from './xds/xds-rules.ts'

/** Where a service listens, as URLs; gRPC as `HOST:PORT` or `unix:PATH`, where it is spoken. */
export interface Addresses {
  readonly http: string
  readonly admin: string
  readonly grpc?: string
}

/** Rules that a service decides by. */
export interface ServedRules {
  readonly domains: readonly Domain[]
  readonly rules: Rules
}

/** A limiter that others ask over the network. */
export interface Service {
  /**
   * Loads the rulebook, and listens nowhere yet: the first half of `start`, for those who look at the rules before.
   * @returns the rules in force
   * @throws RulebookError or ConfigError for a rulebook with mistakes
   */
  load(): Promise<ServedRules>
  /**
   * Loads the rulebook, unless `load` has, and listens; once.
   * @returns where, as URLs
   * @throws RulebookError or ConfigError for a rulebook with mistakes; ConfigError, with the path of the option, for an
   * address in use
   */
  start(): Promise<Addresses>
  /**
   * Turns unready, takes no new connections, answers what is in flight (at once what a tarpit holds back) and, for `idleMs`, what comes on idle
   * connections, each answer with `Connection: close`; then closes. Asked again meanwhile, it cuts what is still open.
   */
  stop(): Promise<void>
  /** Reads the rulebook again. With any mistake in it the rules in force stay. */
  reload(): Promise<Reload>
}

/**
 * Makes the service. Nothing is read and nothing listens before `start`.
 * @throws ConfigError for invalid options
 * @example
 * const service = createService({ rules: ['rules/'], http: '127.0.0.1:8080' })
 * const { http } = await service.start()
 */
export function createService(options: ServiceOptions): Service {
  checkOptions(options, serviceOptions)
  if (options.grpc === undefined && options.grpcTls !== undefined)
    throw new ConfigError('grpcTls: files of TLS have no effect without an address for gRPC', {
      path: ['grpcTls'],
    })
  if (options.xds !== undefined && options.rules.length > 0)
    throw new ConfigError('rules: files have no effect where a server sends the rules', { path: ['rules'] })
  const { http = DEFAULT_HTTP, admin = DEFAULT_ADMIN, watch = true } = options
  const { drainMs = 10_000, idleMs = 2_000 } = options
  const addresses = { http: addressOf(http), admin: addressOf(admin) }
  checkReach(options, addresses.admin)
  if (addresses.http.port !== 0 && isSame(addresses.http, addresses.admin))
    throw new ConfigError(`admin must be another address than http, ${http}`, { path: ['admin'] })
  let stopping: Drain | undefined
  let hurried = false
  let stopped: Promise<void> | undefined
  let watcher: RulesWatcher | undefined
  let stopSeconds = (): void => undefined
  const parts = assemble(options, () => stopped !== undefined)
  const { log, rules } = parts
  let xds: XdsRules | undefined
  let grpc: GrpcServer | undefined

  const stop = async (started: boolean): Promise<void> => {
    const requests = parts.http.inFlight.requests
    if (started) log.info({ requests }, stoppingText(requests, drainMs))
    watcher?.close()
    xds?.close()
    stopSeconds()
    parts.live.streams.close()
    parts.webhook?.stop()
    parts.answerHeld() // a wait of up to a minute would keep clients, and the process
    const idleUntil = performance.now() + Math.min(idleMs, drainMs)
    const drained = async (app: App): Promise<void> => {
      stopping = drain(app, hurried ? 0 : Math.max(0, idleUntil - performance.now()), hurried ? 0 : drainMs)
      await stopping.done
    }
    const calls = grpc?.drain(hurried ? 0 : drainMs)
    await drained(parts.http)
    await calls
    await parts.release()
    await drained(parts.admin) // last, so that operators see why the service is not ready
    await parts.recorder?.end()
    parts.endLog()
    await parts.telemetry?.stop()
    if (started) log.info('stopped')
  }
  /** A server that is not there yet is waited for: without rules nothing can be decided. */
  const firstRules = async (): Promise<void> => {
    if (parts.xds === undefined) return rules.first()
    log.info({ server: options.xds!.server }, 'waits for the first rules')
    xds = await parts.xds()
    const first = xds.start(() => rules.reload())
    if (stopped !== undefined) xds.close() // asked for while it was loaded
    await first
  }
  let loading: Promise<void> | undefined
  const loaded = (): Promise<void> => {
    loading ??= firstRules()
    return loading
  }
  const listenGrpc = async (address: string): Promise<string> => {
    grpc = await parts.grpc!()
    if (stopped !== undefined) await grpc.drain(0) // asked for while it was loaded
    return grpc.listen(grpcAddressOf(address))
  }
  const service: Service = {
    async load() {
      await loaded()
      const { live } = rules
      if (live === undefined) throw new ConfigError('the service was stopped before it had rules')
      return { domains: [...live.domains.values()].map(({ domain }) => domain), rules: live.rules }
    },
    async start() {
      await loaded()
      await parts.lookAtStore()
      try {
        await parts.recorder?.open()
        const grpcUrl = options.grpc === undefined ? undefined : await listenGrpc(options.grpc)
        const urls = {
          http: await listen(parts.http, addresses.http, 'http'),
          admin: await listen(parts.admin, addresses.admin, 'admin'),
          ...(grpcUrl !== undefined && { grpc: grpcUrl }),
        }
        parts.telemetry?.start()
        stopSeconds = everySecond(parts.live.tick, options.timers)
        parts.webhook?.start()
        if (watch !== false && parts.xds === undefined) {
          watcher = new RulesWatcher(options.rules, () => void rules.reload(), watch === true ? {} : watch)
        }
        return urls
      } catch (error) {
        stopped ??= stop(false) // what listens already
        await stopped
        throw error
      }
    },
    stop() {
      if (stopped === undefined) stopped = stop(true)
      else {
        hurried = true
        stopping?.force()
      }
      return stopped
    },
    reload: () => rules.reload(),
  }
  return service
}

/** Whoever reaches the admin address sees keys, and lifts limits: other machines not without being asked who they are. */
function checkReach({ adminToken, adminTls, adminOpen }: ServiceOptions, { host }: ListenAddress): void {
  if (adminTls?.clientName !== undefined && adminTls.clientCa === undefined)
    throw new ConfigError(
      'adminTls.clientName has no effect without a clientCa: clients show no certificate',
      {
        path: ['adminTls', 'clientName'],
      },
    )
  if (
    LOOPBACK.test(host) ||
    adminToken !== undefined ||
    adminTls?.clientCa !== undefined ||
    adminOpen === true
  )
    return
  throw new ConfigError(
    'admin: other machines reach this address, so it needs a token (admin-token), or certificates of clients ' +
      '(admin-client-ca); admin-open leaves it open to all of them',
    { path: ['admin'] },
  )
}

function isSame(one: ListenAddress, other: ListenAddress): boolean {
  return one.host === other.host && one.port === other.port
}

/** What a service that stops waits for. Reservations are not among it: others settle them, or their time ends. */
function stoppingText(requests: number, drainMs: number): string {
  const most = `${drainMs / 1_000} s at most; a second signal ends at once`
  if (requests === 0) return `stopping: no request is in flight, idle connections are closed; ${most}`
  return `stopping: waits for ${requests} request${requests === 1 ? '' : 's'} in flight, ${most}`
}
