import { type Decision, SluiceError } from '@sluice/limiter'
import type { Event, Observer } from '@sluice/limiter/events'
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'

export interface LogOptions {
  /** Default `info`. `debug` has every decision: domain, policies, outcome; never a key. */
  readonly level?: LevelWithSilent
  /** Default: standard output. */
  readonly stream?: DestinationStream
}

export function createLog({ level = 'info', stream }: LogOptions): Logger {
  const options = { name: 'sluice', level, timestamp: pino.stdTimeFunctions.isoTime }
  return stream === undefined ? pino(options) : pino(options, stream)
}

/** Writes to the log what operators need to know. Decisions only at `debug`; a failing store once, until it works. */
export function logEvents(log: Logger): Observer {
  const debugs = log.isLevelEnabled('debug')
  let failing = false
  return (event) => {
    if (failing && event.type === 'decided' && isFromStore(event.decision)) {
      failing = false
      log.info('the store works again')
    }
    if (event.type === 'store-failed') {
      if (!failing) log.error({ reason: reasonOf(event.error) }, 'the store fails')
      failing = true
    }
    if (event.type === 'reloaded') logReload(log, event)
    if (debugs) debug(log, event)
  }
}

function logReload(log: Logger, event: Extract<Event, { type: 'reloaded' }>): void {
  if (event.result === 'refused') {
    const { error } = event
    const why = error instanceof SluiceError ? { reason: error.message } : { err: error }
    log.error(why, 'the rules cannot be used: those in force stay')
  } else log.info({ result: event.result }, 'rules are in force as the files have them')
}

function isFromStore({ degraded, policies }: Decision): boolean {
  return !degraded && policies.length > 0
}

/** Messages alone: what else a driver's error carries may hold keys. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}

function debug(log: Logger, event: Event): void {
  if (event.type === 'key-missing') log.debug({ domain: event.domain, policy: event.policy }, 'key missing')
  if (event.type !== 'decided') return
  const { allowed, policy, degraded, policies } = event.decision
  const limited = policies.filter((figures) => !figures.allowed).map((figures) => figures.policy)
  log.debug({ domain: event.domain, allowed, policy, limited, degraded, peek: event.peek }, 'decided')
}
