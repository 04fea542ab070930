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

/** Bursts of so many times the limit, at different times of a window: in one of them a window may end. */
const BURSTS = 3
const TIMES = 4

export interface FaultReport {
  readonly seconds: number
  /** One for each of {@link FAULTS}, in that order. */
  readonly findings: readonly Finding[]
}

/**
 * Looks for each fault in a limiter of which nothing is known but its limit. Each key is used by one probe alone, so they
 * run side by side, in about four periods.
 * @example
 * const { findings } = await findFaults({
 *   stated: statedBound(10, 2_000),
 *   request: requestMaker({ url, ownAddresses: true }),
 *   sender: createSender(originOf({ url }), { connections: 100, timeoutMs: 10_000 }),
 *   freshKey: () => `${keys++}`,
 *   signal: AbortSignal.timeout(60_000),
 * })
 */
export async function findFaults(options: SubjectOptions): Promise<FaultReport> {
  const start = performance.now()
  const subject = subjectOf(options)
  const { findings, atOnce } = await firstBursts(subject)
  const measured = { ...subject, atOnce }
  const probed = await Promise.all(PROBES.map((probe) => resultOf(probe, measured)))
  const order = Object.keys(FAULTS) as FaultName[]
  return {
    seconds: (performance.now() - start) / 1_000,
    findings: [...findings, ...probed].sort((a, b) => order.indexOf(a.fault) - order.indexOf(b.fault)),
  }
}

/**
 * What a client can know of waits and of what remains, in some periods.
 * @example
 * const findings = await checkAnswers({ stated, request, sender, freshKey, signal })
 */
export async function checkAnswers(options: SubjectOptions): Promise<readonly Finding[]> {
  const subject = subjectOf(options)
  return Promise.all([waitTooShort, waitTooLong, remainingUntrue].map((probe) => resultOf(probe, subject)))
}

async function resultOf(probe: Probe, subject: Subject): Promise<Finding> {
  const result = await probe.run(subject)
  const late = subject.signal.aborted && result.found !== true
  return { fault: probe.fault, ...(late ? { found: undefined, evidence: 'the time was over' } : result) }
}

/** What bursts of several times the limit show. */
async function firstBursts(subject: Subject): Promise<{ findings: readonly Finding[]; atOnce: number }> {
  const { stated, signal } = subject
  const asked = TIMES * stated.capacity + 20
  const bursts = await Promise.all(
    Array.from({ length: BURSTS }, async (_, i) => {
      await pauseUntil(performance.now() + (stated.periodMs * i) / BURSTS, signal)
      return askAtOnce(subject, subject.freshKey(), asked)
    }),
  )
  const more = bursts.filter(
    (answers) => admittedOf(answers).length > stated.capacity + returnedIn(subject, spanOf(answers)),
  )
  const most = Math.max(...bursts.map((answers) => admittedOf(answers).length))
  const isMore = more.length > 1
  const all = bursts.flat()
  const refusals = refusedOf(all)
  const unavailable = refusals.filter(({ status }) => status === 503).length
  const silent = refusals.filter(({ retryAfterMs }) => retryAfterMs === undefined).length
  const of = `of ${refusals.length} refusals`
  const refused = (found: boolean): boolean | undefined => (refusals.length === 0 ? undefined : found)
  const isSlow = bursts.every((answers) => spanOf(answers) > stated.periodMs / 2)
  const isSilent = all.filter(({ fate }) => fate === 'failed').length > all.length / 2
  const problem = isSilent ? 'most requests were not answered' : isSlow ? 'answers took too long' : undefined
  return {
    atOnce: isMore ? most : stated.capacity,
    findings: [
      { fault: 'status-503', found: refused(unavailable > 0), evidence: `${unavailable} ${of}` },
      { fault: 'no-retry-after', found: refused(silent > 0), evidence: `missing in ${silent} ${of}` },
      {
        fault: 'limit-per-instance',
        found: problem === undefined ? isMore : undefined,
        evidence: problem ?? `${most} admitted at once, where ${stated.capacity} may be`,
      },
    ],
  }
}
