import type { Writable } from 'node:stream'
import { SluiceError } from '@sluice/limiter'
import { type Event, type EventType, type Observer, observerOf } from '@sluice/limiter/events'
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'

export const LOG_LEVELS: readonly LevelWithSilent[] = [
  'fatal',
  'error',
  'warn',
  'info',
  'debug',
  'trace',
  'silent',
]

export interface LogOptions {
  /** Default `info`. `debug` has every decision: domain, policies, outcome; never a key. */
  readonly level?: LevelWithSilent
  /** Default: standard output. */
  readonly stream?: DestinationStream
  /**
   * Whether refusals are written, at `info`, and how they show keys: `hashed`; `plain`, as rules make them, with
   * addresses and users; or `off`. Of each second ten of a policy are written, then one line with their count. Default
   * `hashed`.
   */
  readonly refusals?: 'hashed' | 'plain' | 'off'
}

/** A log, and how many of its lines were dropped. */
export interface BoundedLog {
  readonly log: Logger
  readonly dropped: () => number
}

/** Bytes of lines that may wait until they are read: more are dropped, and counted. */
const MOST_WAITING = 1_048_576

const LOG_PAGE = 'https://github.com/sluice-limiter/sluice/blob/main/docs/cli.md#log'

/** A log whose reader may stand still: what waits for it is bounded, and nothing else waits. */
export function createLog({ level = 'info', stream = standardOutput() }: LogOptions): BoundedLog {
  const options = { name: 'sluice', level, timestamp: pino.stdTimeFunctions.isoTime }
  let dropped = 0
  let told = 0
  const direct = pino(options, stream)
  const bounded: DestinationStream = {
    write(line) {
      if (((stream as Partial<Writable>).writableLength ?? 0) > MOST_WAITING) return void dropped++
      if (dropped > told)
        direct.warn(
          { lines: dropped - told },
          `lines were dropped: the log is read too slowly; see ${LOG_PAGE}`,
        )
      told = dropped
      stream.write(line)
    },
  }
  return { log: pino(options, bounded), dropped: () => dropped }
}

/** Whoever reads it may leave. */
function standardOutput(): DestinationStream {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined)
  return process.stdout
}

/** Reasons that are written until they are forgotten. */
const MOST_REASONS = 10
/** Answers in a row after which the reasons of earlier failures are forgotten, and written again if they come again. */
const FORGETS_AFTER = 1_000

/**
 * Writes to the log what operators need to know. Refusals are written elsewhere, other decisions only at `debug`; that the store fails and that it works again
 * when its breaker says so, as the gauge does; each reason once.
 */
export function logEvents(log: Logger): Observer {
  const debugs = log.isLevelEnabled('debug')
  const logStore = storeLog(log)
  const types: EventType[] = ['store-failed', 'store-answered', 'breaker', 'reloaded']
  if (debugs) types.push('decided', 'key-missing')
  return observerOf(types, (event) => {
    logStore(event)
    if (event.type === 'reloaded') logReload(log, event)
    if (debugs) debug(log, event)
  })
}

function storeLog(log: Logger): Observer {
  const reasons = new Set<string>()
  /** Those of which the breaker is not closed. */
  const failing = new Set<number>()
  let reason = ''
  let answers = 0
  return (event) => {
    if (event.type === 'store-failed') {
      answers = 0
      reason = reasonOf(event.error)
      if (reasons.has(reason) || reasons.size >= MOST_REASONS) return
      reasons.add(reason)
      log.warn({ reason }, 'the store did not answer a question')
    } else if (event.type === 'store-answered') {
      if (++answers === FORGETS_AFTER) reasons.clear()
    } else if (event.type === 'breaker') {
      const before = failing.size
      if (event.state === 'closed') failing.delete(event.shard)
      else failing.add(event.shard)
      if (before === 0 && failing.size > 0) log.error({ reason }, 'the store fails')
      if (before > 0 && failing.size === 0) {
        reasons.clear()
        log.info('the store works again')
      }
    }
  }
}

function logReload(log: Logger, event: Extract<Event, { type: 'reloaded' }>): void {
  if (event.result === 'refused') {
    const { error } = event
    const why = error instanceof SluiceError ? { reason: error.message } : { err: error }
    log.error(why, 'the rules cannot be used: those in force stay')
  } else log.info({ result: event.result }, 'rules are in force as the files have them')
}

/** Messages alone: what else a driver's error carries may hold keys. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : reasonOf(error.cause)
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}

function debug(log: Logger, event: Event): void {
  if (event.type === 'key-missing') log.debug({ domain: event.domain, policy: event.policy }, 'key missing')
  if (event.type !== 'decided') return
  const { allowed, policy, degraded, policies } = event.decision
  const limited = policies.filter((figures) => !figures.allowed).map((figures) => figures.policy)
  log.debug({ domain: event.domain, allowed, policy, limited, degraded, peek: event.peek }, 'decided')
}
