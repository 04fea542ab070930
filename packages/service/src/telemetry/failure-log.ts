import type { Log } from '../app.ts'
import type { OnFailure } from './exporters.ts'

const EVERY_MS = 60_000

/** Writes failures to send to the log: one line a minute, with how many there were. @param now milliseconds */
export function failureLog(log: Pick<Log, 'warn'>, now: () => number = () => performance.now()): OnFailure {
  let failures = 0
  let written = Number.NEGATIVE_INFINITY
  return (error) => {
    failures++
    if (now() - written < EVERY_MS) return
    written = now()
    log.warn({ failures, reason: error?.message }, 'traces or metrics could not be sent: they are dropped')
    failures = 0
  }
}
