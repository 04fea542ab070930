import type { TimedAnswer } from '../answer.ts'
import { pauseUntil } from '../open-loop.ts'
import { type Probe, untried } from './fault.ts'
import { exhaust, isAdmitted, type Subject } from './subject.ts'

/** Keys that are tried, at different times of a window. */
const KEYS = 6
/** Longer waits are not waited for. */
const MOST_WAIT_MS = 45_000
/** Milliseconds by which a wait may seem too long, beside the rounding of Retry-After. */
const NOISE_MS = 50

export const waitTooShort: Probe = {
  fault: 'wait-too-short',
  async run(subject) {
    const tries = await Promise.all(Array.from({ length: KEYS }, (_, i) => obey(subject, i)))
    const kept = tries.filter((each) => each !== undefined)
    const broken = kept.find(({ again }) => again.fate === 'refused')
    if (kept.length === 0) return untried('no refusal stated a wait of less than 45 s')
    if (broken === undefined) return { found: false, evidence: `${kept.length} waits were obeyed and kept` }
    const asked = Math.round(broken.again.sent - broken.refusal.received)
    const evidence = `was to wait ${broken.refusal.retryAfterMs} ms, asked again after ${asked} ms, and was refused`
    return { found: true, evidence }
  },
}

interface Obeyed {
  readonly refusal: TimedAnswer
  readonly again: TimedAnswer
}

/** Asks again as soon as the refusal allows it, and not before. */
async function obey(subject: Subject, i: number): Promise<Obeyed | undefined> {
  const { periodMs } = subject.stated
  await pauseUntil(performance.now() + (Math.min(periodMs, 5_000) * i) / KEYS, subject.signal)
  const key = subject.freshKey()
  const refusal = await exhaust(subject, key)
  if (refusal?.retryAfterMs === undefined || refusal.retryAfterMs > MOST_WAIT_MS) return undefined
  await pauseUntil(refusal.received + refusal.retryAfterMs, subject.signal)
  if (subject.signal.aborted) return undefined
  return { refusal, again: await subject.ask(key) }
}

export const waitTooLong: Probe = {
  fault: 'wait-too-long',
  async run(subject) {
    const tries = await Promise.all(
      Array.from({ length: KEYS }, (_, i) => impatient(subject, (i + 1) / (KEYS + 2))),
    )
    const asked = tries.filter((each) => each !== undefined)
    if (asked.length === 0) return untried('no refusal stated a wait that is long enough to be tried')
    const early = asked.find(({ refusal, again }) => {
      const elapsed = again.received - refusal.sent
      const slack = (refusal.roundedByMs ?? 0) + NOISE_MS
      return isAdmitted(again) && elapsed + slack < refusal.retryAfterMs!
    })
    if (early === undefined)
      return { found: false, evidence: `asked ${asked.length} times before its wait was over` }
    const elapsed = Math.round(early.again.received - early.refusal.sent)
    const evidence = `was to wait ${early.refusal.retryAfterMs} ms, and was admitted after ${elapsed} ms`
    return { found: true, evidence }
  },
}

/** Asks once more, when a share of the wait is over. */
async function impatient(subject: Subject, share: number): Promise<Obeyed | undefined> {
  const key = subject.freshKey()
  const refusal = await exhaust(subject, key)
  const wait = refusal?.retryAfterMs
  if (refusal === undefined || wait === undefined || wait <= (refusal.roundedByMs ?? 0) + NOISE_MS)
    return undefined
  if (wait * share > MOST_WAIT_MS) return undefined
  await pauseUntil(refusal.received + wait * share, subject.signal)
  if (subject.signal.aborted) return undefined
  return { refusal, again: await subject.ask(key) }
}
