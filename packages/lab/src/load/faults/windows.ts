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

/**
 * Finds the edge of a window: a key that has used all asks until it is admitted again. A period later is the next edge,
 * whether windows follow the clock, or begin with a key's first request. All is used just before it, and just after it.
 */
export const doubleBurst: Probe = {
  fault: 'double-burst',
  async run(subject) {
    const { periodMs } = subject.stated
    const key = subject.freshKey()
    if ((await exhaust(subject, key)) === undefined) return untried('no request was refused')
    const everyMs = Math.min(20, periodMs / 100)
    const edge =
      (await askUntil(subject, key, isAdmitted, { everyMs, forMs: 1.2 * periodMs + 200 })) ??
      (await afterSilence(subject, key))
    if (edge === undefined) return untried('a key was not admitted again within a period')
    const nearMs = Math.min(150, periodMs / 8)
    await pauseUntil(edge.sent + periodMs - nearMs, subject.signal)
    const before = await askAtOnce(subject, key, subject.atOnce + 3)
    await pauseUntil(edge.received + periodMs + nearMs / 4, subject.signal)
    if (subject.signal.aborted) return untried('the time was over')
    const both = admittedOf([...before, ...(await askAtOnce(subject, key, subject.atOnce + 3))])
    const span = both.length === 0 ? 0 : spanOf(both)
    const evidence = `${both.length} were admitted within ${Math.round(span)} ms`
    if (span >= periodMs) return untried(`answers took longer than a window: ${evidence}`)
    return { found: both.length > subject.atOnce + returnedIn(subject, span), evidence }
  },
}

/** Where those who go on asking are never admitted. */
function afterSilence(subject: Subject, key: string): ReturnType<typeof askUntil> {
  const everyMs = SILENT_PERIODS * subject.stated.periodMs
  return pauseUntil(performance.now() + everyMs, subject.signal).then(() =>
    askUntil(subject, key, isAdmitted, { everyMs, forMs: 1.5 * everyMs }),
  )
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
