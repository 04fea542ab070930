import { setMaxListeners } from 'node:events'
import { diagnostics } from '@sluice/limiter/diagnostics'
import { everyObserver } from '@sluice/limiter/events'
import { createOffenders } from '@sluice/limiter/offenders'
import { createPipeline } from '@sluice/limiter/pipeline'
import { EventStreams, keyShown, LiveFigures, RefusalLog, storeFails, Tallies } from '@sluice/observe/parts'
import type { Registry } from 'prom-client'
import { addressOf, DEFAULT_ADMIN } from './address.ts'
import { adminApp } from './admin/admin-app.ts'
import type { Readiness } from './admin/health.ts'
import { ownNames } from './admin/keep-pages-out.ts'
import type { LiveStream } from './admin/live.ts'
import type { App, Log } from './app.ts'
import { authorizationCheck } from './auth/ext-authz.ts'
import { boundsOf } from './bounds.ts'
import type { GrpcServer } from './grpc/grpc-server.ts'
import { httpApp } from './http/http-app.ts'
import { type BoundedLog, createLog, logEvents } from './observe/log.ts'
import { createMetrics } from './observe/metrics.ts'
import type { DescriptorModes } from './operations/asked-steps.ts'
import { descriptorDecider } from './operations/descriptors.ts'
import { createOperations } from './operations/operations.ts'
import { Recorder } from './record/recorder.ts'
import { assignmentsOf } from './rlqs/assignments.ts'
import { reportRlqs } from './rlqs/metrics.ts'
import { DEFAULT_DEADLINE_MS } from './rls/deadline.ts'
import { shouldRateLimit } from './rls/handler.ts'
import { reportRls, rlsReloads, rlsTimes } from './rls/metrics.ts'
import type { RlsOptions } from './rls/options.ts'
import { RlsTallies } from './rls/tallies.ts'
import { type Failure, LiveRules } from './rules/live-rules.ts'
import { type LoadRules, loadInThread } from './rules/load-rules.ts'
import { settleMsOf } from './rules/rules-watcher.ts'
import type { ServiceOptions } from './service-options.ts'
import { storesFor } from './stores.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { OffendersWebhook } from './webhook/offenders-webhook.ts'
import type { XdsRules } from './xds/xds-rules.ts'

/** A service whose rules are not loaded yet, and which does not listen. */
export interface ServiceParts {
  readonly http: App
  readonly admin: App
  /** Loads gRPC, and makes its server; absent where the service does not speak it. Once. Throws ConfigError for files of TLS that cannot be used. */
  readonly grpc: (() => Promise<GrpcServer>) | undefined
  readonly rules: LiveRules
  /** Loads what takes the rules from a server, where they do not come from files. Once. Throws ConfigError as `grpc` does. */
  readonly xds: (() => Promise<XdsRules>) | undefined
  readonly log: Log
  /** Sends spans and metrics elsewhere: whoever runs the service starts and stops it. */
  readonly telemetry: (Pick<Telemetry, 'stop'> & { start(): void }) | undefined
  /** The figures of each second: whoever runs the service ends the seconds, and the streams. */
  readonly live: LiveStream
  /** Absent where offenders are not posted. */
  readonly webhook: OffendersWebhook | undefined
  /** Sends the answers that are held back, and holds none back any more. */
  readonly answerHeld: () => void
  /** Writes to the log what is still to be said of the last second. */
  readonly endLog: () => void
  /** Writes what it was asked to a file, where it is to: whoever runs the service opens and ends it. */
  readonly recorder: Pick<Recorder, 'open' | 'end'> | undefined
  /** Finds out whether the store answers, so that gauge and log know from the beginning. */
  readonly lookAtStore: () => Promise<unknown>
  /** Gives back what was taken ahead from a shared store. */
  readonly release: () => Promise<void>
}

/**
 * @param reload how rules are made while others are in force
 * @throws ConfigError for options that are wrong
 */
export function assemble(
  options: ServiceOptions,
  stopping: () => boolean,
  reload: LoadRules = loadInThread,
): ServiceParts {
  const { respond = {}, tarpit, timers, secret, calendarMonths = false, wallClock = Date.now } = options
  const { xds: xdsOptions, grpc: grpcAddress } = options
  const bounds = boundsOf(options.bounds)
  const { log, dropped } = createLog(options.log ?? {})
  const counts = (domain: string, policy: string): boolean =>
    rules.live?.domains.get(domain)?.policies.has(policy) ?? false
  const tallies = new Tallies(counts)
  // The one bus: all that happens comes here, and goes to all that watch.
  const observers = everyObserver()
  const { observe } = observers
  const stores = storesFor(options, observe)
  const { store } = stores
  const metrics = createMetrics({ tallies, stores, rules: () => rules, droppedLines: dropped })
  const { rls = {} } = options
  const rlsTallies = new RlsTallies(rls.nearLimitRatio, rlsTimes(metrics.registry))
  reportRls(metrics.registry, rlsTallies)
  const offenders = createOffenders({ counts, now: wallClock })
  const figures = new LiveFigures({ tallies, stores, rules: () => rules, counts, now: wallClock })
  const refusals = refusalLog(options, log, counts)
  const live = liveOf(figures, refusals)
  if (refusals !== undefined) observers.add(refusals.observe)
  observers.add(live.figures.observe, offenders.observe)
  const assignments = assignmentsOf(options.rlqs ?? {}, () => rules.live!.rules)
  if (grpcAddress !== undefined) reportRlqs(metrics.registry, assignments.assigner)
  observers.add(tallies.observe, ...metrics.observers, rlsReloads(metrics.registry), logEvents(log))
  observers.add(assignments.observe, diagnostics())
  if (options.telemetry !== undefined) observers.add(options.telemetry.observe)
  let xds: XdsRules | undefined
  const rules = new LiveRules({
    paths: options.rules,
    read: xdsOptions && (() => xds!.files), // there before rules are loaded
    settleMs: settleMsOf(options.watch),
    load: { calendarMonths },
    reload,
    compile: { calendarMonths, ...(secret !== undefined && { secret }) },
    now: wallClock,
    observe,
  })
  const inForce = () => rules.live!.rules // loaded before anything listens
  const pipeline = createPipeline<boolean>({ rules: inForce, store, respond, observe, wallClock })
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal) // each answer that is held back listens
  const recorder = recorderOf(options, metrics.registry, log, rules)
  const unrecorded = createOperations({
    pipeline,
    stores,
    rules,
    secret,
    observe,
    carry: options.telemetry?.carry,
    tarpit,
    timers,
    leaving: leaving.signal,
  })
  const operations = recorder?.operations(unrecorded) ?? unrecorded
  const decide = descriptorDecider({
    pipeline,
    store,
    fallback: stores.fallback,
    observe,
    carry: options.telemetry?.carry,
    ...modesOf(rls),
  })
  const showKey = keyShown(options.offenderKeys, secret)
  const webhook =
    options.offendersWebhook &&
    new OffendersWebhook({
      options: options.offendersWebhook,
      offenders,
      policies: () => policiesOf(rules),
      showKey,
      log,
      timers,
    })
  webhook?.report(metrics.registry)
  const rateLimit = shouldRateLimit({
    decide: recorder?.descriptors(decide) ?? decide,
    tallies: rlsTallies,
    options: rls,
  })
  const auth = { options: options.auth ?? {}, domains: () => [...rules.live!.domains.keys()] }
  const readiness: Readiness = async () => {
    const fails = (await storeFails(stores)) ? ['the store does not answer'] : []
    const needsStore = options.readiness === 'store'
    return {
      reasons: [...(stopping() ? ['the service is stopping'] : []), ...(needsStore ? fails : [])],
      warnings: [...(needsStore ? [] : fails), ...oldRules(rules.failure)],
    }
  }
  return {
    http: httpApp({
      operations,
      auth,
      shouldRateLimit: rateLimit,
      readiness,
      telemetry: options.telemetry,
      bounds,
      log,
      stopping,
    }),
    grpc:
      grpcAddress === undefined
        ? undefined
        : async () => {
            const { grpcServer } = await import('./grpc/grpc-server.ts')
            return grpcServer({
              shouldRateLimit: rateLimit,
              assignments,
              authorizationCheck: authorizationCheck({ ...auth, operations }),
              readiness,
              telemetry: options.telemetry,
              log,
              deadlineMs: rls.deadlineMs ?? DEFAULT_DEADLINE_MS,
              tls: options.grpcTls,
              maxConnectionAgeMs: rls.maxConnectionAgeMs,
              maxConnectionAgeGraceMs: rls.maxConnectionAgeGraceMs,
            })
          },
    admin: adminApp({
      operations,
      rules,
      registry: metrics.registry,
      readiness,
      token: options.adminToken,
      tls: options.adminTls,
      live,
      offenders,
      showKey,
      names: ownNames(addressOf(options.admin ?? DEFAULT_ADMIN), options.adminHosts),
      bounds,
      log,
      stopping,
    }),
    rules,
    xds:
      xdsOptions &&
      (async () => {
        const { XdsRules } = await import('./xds/xds-rules.ts')
        xds = new XdsRules(xdsOptions, log)
        return xds
      }),
    log,
    telemetry: options.telemetry && {
      start: () => options.telemetry!.start(metrics.registry, log),
      stop: () => options.telemetry!.stop(),
    },
    live,
    webhook,
    answerHeld: () => leaving.abort(),
    endLog: () => refusals?.end(),
    recorder,
    lookAtStore: () => storeFails(stores),
    release: async () => stores.prefetch?.release(),
  }
}

function recorderOf(
  { record, secret, wallClock = Date.now }: ServiceOptions,
  registry: Registry,
  log: Log,
  rules: LiveRules,
): Recorder | undefined {
  if (record === undefined) return undefined
  const domainOf = (name: string) => rules.live?.domains.get(name)?.domain
  return new Recorder({ options: record, secret, log, registry, domainOf, now: wallClock })
}

/** Nothing, where the log would not have it. */
function refusalLog(
  { log: { refusals = 'hashed' } = {}, secret, wallClock = Date.now }: ServiceOptions,
  log: BoundedLog['log'],
  counts: (domain: string, policy: string) => boolean,
): RefusalLog | undefined {
  if (refusals === 'off' || !log.isLevelEnabled('info')) return undefined
  return new RefusalLog({ log, counts, showKey: keyShown(refusals, secret), now: wallClock })
}

function liveOf(figures: LiveFigures, refusals: RefusalLog | undefined): LiveStream {
  const streams = new EventStreams()
  const tick = (): void => {
    figures.tick()
    streams.tick()
    refusals?.tick()
  }
  return { figures, streams, tick }
}

/** Names of all policies in force. */
function* policiesOf({ live }: LiveRules): Iterable<readonly [domain: string, policy: string]> {
  for (const [domain, { policies }] of live?.domains ?? []) {
    for (const policy of policies) yield [domain, policy]
  }
}

function modesOf({ shadow = false, quota = false }: RlsOptions): DescriptorModes {
  return { shadow, quota }
}

/** What operators are told while the files have a mistake, and older rules are in force. */
function oldRules(failure: Failure | undefined): string[] {
  if (failure === undefined) return []
  const since = new Date(failure.since).toISOString()
  return [`the rules cannot be used since ${since}, and those in force stay: ${failure.message}`]
}
