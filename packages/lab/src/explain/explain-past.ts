import { receiptOf } from '@sluice/limiter/decide'
import { LabError } from '../lab-error.ts'
import { InstantReader } from '../traffic/instant-reader.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { type AnswerThen, answerThen } from './answer-then.ts'
import { type PastDecision, type PastOptions, pastDecisions } from './past-decisions.ts'
import { type Remedies, remediesOf } from './remedies.ts'

/** Which request of the past is meant: the first that is all of this. */
export interface PastChoice {
  /** Not before this, in microseconds since the epoch, and before `until`. */
  readonly from?: number
  readonly until?: number
  /** Of a counter that it charges, as rules make it. */
  readonly key?: string | undefined
  /** Nothing but the request of this line. */
  readonly line?: TrafficSource
}

/** A decision that happened, and what would have changed it. */
export interface ExplainedPast {
  readonly past: PastDecision
  /** Requests of the log before it. */
  readonly before: number
  /** Only where it was refused. */
  readonly remedies: Remedies | undefined
  /** What was answered then, where the log says it. */
  readonly answered: AnswerThen | undefined
}

/**
 * Replays a log up to a request, and tells what would have let it pass.
 * @param sources must be repeatable; none: the line stands alone
 * @returns nothing where the log has no such request
 * @throws LabError for traffic that cannot be read
 * @example
 * const found = await explainPast(sourcesOf(['record.jsonl*']), { rules, domain: 'shop' }, { key: '192.0.2.1' })
 */
export async function explainPast(
  sources: readonly TrafficSource[],
  options: PastOptions,
  { line, ...choice }: PastChoice,
): Promise<ExplainedPast | undefined> {
  const meant = line === undefined ? undefined : await onlyRequest(line, options)
  const isMeant = meant === undefined ? chosen(choice) : sameAs(meant)
  const explained = async (
    logs: readonly TrafficSource[],
    past: PastDecision,
    before: number,
    earlier: number,
  ): Promise<ExplainedPast> => ({
    past,
    before,
    remedies: await remediesOf(logs, options, past, before),
    answered: line
      ? await answerThen([line], options, past, 0)
      : await answerThen(logs, options, past, earlier),
  })
  let before = 0
  let atSame: PastDecision[] = []
  for await (const past of pastDecisions(sources, options)) {
    if (past.at !== atSame[0]?.at) atSame = []
    if (isMeant(past)) return explained(sources, past, before, atSame.filter(sameAs(past)).length)
    atSame.push(past)
    before++
  }
  if (meant === undefined || sources.length > 0) return undefined
  return explained([line!], meant, 0, 0)
}

async function onlyRequest(line: TrafficSource, options: PastOptions): Promise<PastDecision> {
  const counts = new ReadCounts()
  for await (const past of pastDecisions([line], options, counts)) return past
  const [first] = counts.shown
  throw new LabError(
    `the line is no request that these rules can decide${first === undefined ? '' : `: ${first.reason}`}`,
  )
}

function sameAs({ at, question }: PastDecision): (past: PastDecision) => boolean {
  const asked = JSON.stringify(question)
  return (past) => past.at === at && JSON.stringify(past.question) === asked
}

function chosen({ from, until, key }: Omit<PastChoice, 'line'>): (past: PastDecision) => boolean {
  return ({ at, decision }) => {
    if (from === undefined ? decision.allowed : at < from || at >= until!) return false
    return key === undefined || receiptOf(decision)!.steps.some((step) => step.key === key)
  }
}

/**
 * The span that a time names: `2026-01-31T10:05:03Z` is a second, `…03.25Z` a hundredth of one.
 * @returns nothing for a text that is no time
 * @example
 * namedSpan('2026-01-31T10:05:03Z') // one second, in microseconds since the epoch
 */
export function namedSpan(time: string): { readonly from: number; readonly until: number } | undefined {
  const bytes = Buffer.from(time)
  const from = new InstantReader().any(bytes, 0, bytes.length)
  const decimals = /[.](\d{1,6})/.exec(time)?.[1]?.length ?? 0
  return from >= 0 ? { from, until: from + 10 ** (6 - decimals) } : undefined
}
