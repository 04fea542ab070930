import { pauseUntil } from '../open-loop.ts'
import { FAULTS, type FaultName, type Finding, type Probe } from './fault.ts'
import { forgedForwardedFor } from './forged.ts'
import { remainingUntrue } from './remaining.ts'
import {
  admittedOf,
  askAtOnce,
  refusedOf,
  returnedIn,
  type Subject,
  type SubjectOptions,
  spanOf,
  subjectOf,
} from './subject.ts'
import { waitTooLong, waitTooShort } from './waits.ts'
import { doubleBurst, refusalsProlong } from './windows.ts'

const PROBES: readonly Probe[] = [
  doubleBurst,
  waitTooShort,
  waitTooLong,
  remainingUntrue,
  forgedForwardedFor,
  refusalsProlong,
]

/** More than so many times the limit at once are several instances, and no rounding. */
const MULTIPLE = 1.5
/** How many instances can be told apart. */
const MOST_INSTANCES = 4

export interface FaultReport {
  readonly seconds: number
  /** One for each of {@link FAULTS}, in that order. */
  readonly findings: readonly Finding[]
}

/**
 * Looks for each fault in a limiter of which nothing is known but its limit. Each key is used by one probe alone, so they
 * run side by side, in about four periods.
 */
export async function findFaults(options: SubjectOptions): Promise<FaultReport> {
  const start = performance.now()
  const subject = subjectOf(options)
  const { findings, atOnce } = await firstBurst(subject)
  const measured = { ...subject, atOnce }
  const probed = await Promise.all(PROBES.map((probe) => resultOf(probe, measured)))
  const order = Object.keys(FAULTS) as FaultName[]
  return {
    seconds: (performance.now() - start) / 1_000,
    findings: [...findings, ...probed].sort((a, b) => order.indexOf(a.fault) - order.indexOf(b.fault)),
  }
}

/** What a client can know of waits and of what remains, in some periods. */
export async function checkAnswers(options: SubjectOptions): Promise<readonly Finding[]> {
  const subject = subjectOf(options)
  return Promise.all([waitTooShort, waitTooLong, remainingUntrue].map((probe) => resultOf(probe, subject)))
}

async function resultOf(probe: Probe, subject: Subject): Promise<Finding> {
  const result = await probe.run(subject)
  const late = subject.signal.aborted && result.found !== true
  return { fault: probe.fault, ...(late ? { found: undefined, evidence: 'the time was over' } : result) }
}

/** What a burst of several times the limit shows. */
async function firstBurst(subject: Subject): Promise<{ findings: readonly Finding[]; atOnce: number }> {
  const { stated } = subject
  const asked = Math.ceil(MOST_INSTANCES * stated.capacity) + 20
  const answers = [await askAtOnce(subject, subject.freshKey(), asked)]
  if (excess(subject, answers[0]!) > MULTIPLE) {
    await pauseUntil(performance.now() + stated.periodMs / 3, subject.signal) // a window may have ended in the first
    answers.push(await askAtOnce(subject, subject.freshKey(), asked))
  }
  const times = Math.min(...answers.map((each) => excess(subject, each)))
  const refusals = refusedOf(answers.flat())
  const failed = answers.flat().length - refusals.length - admittedOf(answers.flat()).length
  const unavailable = refusals.filter(({ status }) => status === 503).length
  const silent = refusals.filter(({ retryAfterMs }) => retryAfterMs === undefined).length
  const of = `of ${refusals.length} refusals`
  const refused = (found: boolean): boolean | undefined => (refusals.length === 0 ? undefined : found)
  const admitted = admittedOf(answers.at(-1)!).length
  return {
    atOnce: Math.max(stated.capacity, ...(times > MULTIPLE ? [admitted] : [])),
    findings: [
      { fault: 'status-503', found: refused(unavailable > 0), evidence: `${unavailable} ${of}` },
      { fault: 'no-retry-after', found: refused(silent > 0), evidence: `missing in ${silent} ${of}` },
      {
        fault: 'limit-per-instance',
        found: failed > asked / 2 ? undefined : times > MULTIPLE,
        evidence: `${admitted} admitted at once, where ${stated.capacity} may be`,
      },
    ],
  }
}

/** How many times what a new key may have was admitted. */
function excess(subject: Subject, answers: readonly Parameters<typeof spanOf>[0][number][]): number {
  const returned = returnedIn(subject, spanOf(answers)) - 1
  return (admittedOf(answers).length - returned) / subject.stated.capacity
}
