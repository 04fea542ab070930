import type { Decision } from '@sluice/limiter/core/decide/decision'
import { SluiceError } from '@sluice/limiter/core/errors'
import type { Event, Observer } from '@sluice/limiter/observe/events'
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'
import type { Reload } from '../rules/live-rules.ts'

export interface LogOptions {
  /** Default `info`. `debug` tells every decision: domain, policies, outcome; never a key. */
  readonly level?: LevelWithSilent
  /** Default: standard output. */
  readonly stream?: DestinationStream
}

export function createLog({ level = 'info', stream }: LogOptions): Logger {
  const options = { name: 'sluice', level, timestamp: pino.stdTimeFunctions.isoTime }
  return stream === undefined ? pino(options) : pino(options, stream)
}

/** Tells operators what happens. */
export interface Journal {
  /** Decisions, to those who debug. */
  readonly observe: Observer
  /** Once, until the store works again. */
  storeFailed(error: unknown): void
  reloaded(reload: Reload): void
}

export function createJournal(log: Logger): Journal {
  const debugs = log.isLevelEnabled('debug')
  let failing = false
  return {
    observe(event) {
      if (failing && event.type === 'decided' && isFromStore(event.decision)) {
        failing = false
        log.info('the store works again')
      }
      if (debugs) debug(log, event)
    },
    storeFailed(error) {
      if (!failing) log.error({ reason: reasonOf(error) }, 'the store fails')
      failing = true
    },
    reloaded(reload) {
      if (reload.result === 'refused') {
        const { error } = reload
        const why = error instanceof SluiceError ? { reason: error.message } : { err: error }
        log.error(why, 'the rules cannot be used: those in force stay')
      } else log.info({ result: reload.result }, 'rules are in force as the files have them')
    },
  }
}

function isFromStore({ degraded, policies }: Decision): boolean {
  return !degraded && policies.length > 0
}

/** Messages alone: what else a driver's error carries may tell of keys. */
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
