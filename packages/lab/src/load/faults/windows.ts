import type { TimedAnswer } from '../answer.ts'
import { pauseUntil } from '../open-loop.ts'
import { type Probe, untried } from './fault.ts'
import {
  admittedOf,
  askAtOnce,
  askUntil,
  exhaust,
  isAdmitted,
  returnedIn,
  type Subject,
  spanOf,
} from './subject.ts'

/** After such a pause a client is admitted, if it was silent: more than one period, for limiters that smooth two. */
const SILENT_PERIODS = 1.1

/** Bursts across an edge: where the first was answered too late, it may have been after the edge. */
const EDGES = 4

/**
 * Finds the edge of a window: a key that has used all asks until it is admitted again. A period later is the next edge,
 * whether windows follow the clock, or begin with a key's first request. All is used just before it, and just after it.
 */
export const doubleBurst: Probe = {
  fault: 'double-burst',
  async run(subject) {
    const { periodMs } = subject.stated
    let late = ''
    for (let edges = 0; edges < EDGES; edges++) {
      const key = subject.freshKey()
      if ((await exhaust(subject, key)) === undefined) return untried('no request was refused')
      const edge = await edgeOf(subject, key)
      if (edge === undefined) return untried('a key was not admitted again within a period')
      const nearMs = Math.min(150 + edge.to - edge.from, periodMs / 8)
      await pauseUntil(edge.from + periodMs - nearMs, subject.signal)
      const before = await askAtOnce(subject, key, subject.atOnce + 3)
      await pauseUntil(edge.to + periodMs + nearMs / 4, subject.signal)
      if (subject.signal.aborted) return untried('the time was over')
      const both = admittedOf([...before, ...(await askAtOnce(subject, key, subject.atOnce + 3))])
      const span = both.length === 0 ? 0 : spanOf(both)
      const evidence = `${both.length} were admitted within ${Math.round(span)} ms`
      const found = both.length > subject.atOnce + returnedIn(subject, span)
      const isBefore = before.every(({ received }) => received < edge.from + periodMs)
      if (span < periodMs && (found || isBefore)) return { found, evidence }
      late = evidence
    }
    return untried(`answers took too long: ${late}`)
  },
}

/**
 * Between which instants a key that has used all was given more: from when the last request that was refused was sent,
 * to when one that was admitted was answered, in milliseconds of `performance.now()`.
 */
async function edgeOf(subject: Subject, key: string): Promise<{ from: number; to: number } | undefined> {
  const { periodMs } = subject.stated
  let refused: TimedAnswer | undefined
  const isAdmittedNow = (answer: TimedAnswer): boolean => {
    if (answer.fate === 'refused') refused = answer
    return isAdmitted(answer)
  }
  const everyMs = Math.min(20, periodMs / 100)
  const admitted = await askUntil(subject, key, isAdmittedNow, { everyMs, forMs: 1.2 * periodMs + 200 })
  if (admitted !== undefined) return { from: (refused ?? admitted).sent, to: admitted.received }
  const later = await afterSilence(subject, key)
  return later && { from: later.sent, to: later.received }
}

/** Where those who go on asking are never admitted. */
async function afterSilence(subject: Subject, key: string): Promise<TimedAnswer | undefined> {
  const everyMs = SILENT_PERIODS * subject.stated.periodMs
  await pauseUntil(performance.now() + everyMs, subject.signal)
  return askUntil(subject, key, isAdmitted, { everyMs, forMs: 1.5 * everyMs })
}

export const refusalsProlong: Probe = {
  fault: 'refusals-prolong',
  async run(subject) {
    const { periodMs, limit } = subject.stated
    const [silent, asking] = [subject.freshKey(), subject.freshKey()]
    const refusals = await Promise.all([exhaust(subject, silent), exhaust(subject, asking)])
    if (refusals.includes(undefined)) return untried('no request was refused')
    const start = performance.now()
    const asksOn = askUntil(subject, asking, isAdmitted, {
      everyMs: Math.max(5, Math.min(50, periodMs / (2 * limit))),
      forMs: 3 * periodMs,
    })
    const whoWaited = await afterSilence(subject, silent)
    const waitedMs = Math.round(performance.now() - start)
    const whoAsked = await asksOn
    if (whoAsked !== undefined) return { found: false, evidence: 'a key that went on asking was admitted' }
    if (subject.signal.aborted) return untried('the time was over')
    if (whoWaited === undefined) return untried('no key was admitted again')
    const evidence = `a key that was silent was admitted after ${waitedMs} ms, and one that went on asking was not`
    return { found: true, evidence }
  },
}
